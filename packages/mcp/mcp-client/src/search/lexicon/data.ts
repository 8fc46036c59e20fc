/** Owns the concepts of databases, tables, calculation and charts. The format is in concepts.ts. */

export const DATA = `
database: database db sql data_store postgres mysql sqlite mongodb mongo | 数据库 库 |
table: table tables relation | 表 数据表 表格 | customer supplier order
row: row rows record records entry tuple record line | 行 记录 数据行 条目 条 一行 一条 哪一行 | entries customer supplier order invoice employee product person client 客户 供应商 订单
column: column columns field fields attribute property | 列 字段 属性 | birthday
schema: schema structure definition ddl model shape | 结构 模式 表结构 架构 | columns fields what_fields looks_like 长什么样 有哪些字段
sql: sql query select statement | 查询语句 语句 |
query: query select find lookup ask | 查询 查 检索 查一下 | how_many which_customers
insert: insert add create new_record | 插入 新增 写入 插到 插进 塞到 | put_in add_to put~into
upsert: upsert insert_or_update | |
update_data: update modify set | 更新 修改 |
delete_data: delete remove drop | 删除 |
collection: collection documents mongodb nosql mongo | 集合 文档 |
document_db: mongodb mongo document_database nosql bson collection | 文档数据库 芒果 |
aggregate: aggregate aggregation group_by pipeline summarize average rollup | 聚合 汇总 分组 统计 平均 各个 平均每 | per each average by_country breakdown 每个 平均 for_each by_month
average: average mean avg | 平均 均值 平均值 | typical
median: median middle | 中位数 |
minimum: min minimum lowest smallest least | 最小 最低 最少 |
maximum: max maximum highest largest biggest most | 最大 最高 最多 |
index: index indexes indices indexing | 索引 | speed_up slow_query faster 加快 加速 查询慢 slow make~faster
transaction: transaction commit rollback | 事务 |
cache: cache redis key_value memcached in_memory | 缓存 键值 |
key: key keys value | 键 键值 |
explain_plan: explain query_plan execution_plan | 执行计划 查询计划 | why_is_the_query slow
cell: cell range spreadsheet | 单元格 |
spreadsheet: spreadsheet excel sheet google_sheets csv workbook airtable grid | 电子表格 表格 工作表 |
base: base workspace | 多维表格 |
chart: chart graph plot visualization visualisation diagram figure visualize infographic | 图表 图 可视化 图形 统计图 画图 做图 出图 画个图 | picture draw show compare_visually at_a_glance
line_chart: line_chart trend time_series line curve | 折线图 折线 趋势图 曲线 走向 曲线图 变化曲线 | over_time trend month_by_month by_month growth rise fall over_the_years 走势 变化趋势 逐月 每月 developed went_up
bar_chart: bar_chart bar bars horizontal | 条形图 横条 | side_by_side compare_numbers compare comparing 比较
column_chart: column_chart column vertical histogram | 柱状图 柱形图 柱图 | compare comparing five 比较
pie_chart: pie_chart pie donut proportion share | 饼图 占比 比例 份额 环图 占多大 各占 | slices percentage_of what_part market_share parts_of_the_whole 百分比 构成 percent_of_total split_up
area_chart: area_chart area stacked | 面积图 |
scatter: scatter scatter_plot correlation bubble | 散点图 散点 相关性 气泡图 | relationship_between two_variables correlated against go_together
histogram: histogram frequency distribution bins | 直方图 频数 分布 集中在 | how_are_they_spread spread_of spread ages how_often_each
boxplot: boxplot box_plot quartile violin | 箱线图 箱形图 四分位 小提琴图 | outliers spread
heatmap: heatmap heat_map density | 热力图 热图 |
radar: radar radar_chart spider_chart web_chart | 雷达图 蛛网图 | multiple_dimensions strengths
funnel: funnel conversion stage | 漏斗图 漏斗 转化 转化率 流失 | drop_off drop_out visitors leave_before
treemap: treemap tree_map hierarchical | 矩形树图 树图 | nested_boxes
sankey: sankey flow | 桑基图 流向 去向 流到哪 | where_the_money_goes flows_from streams where~goes comes_from ends_up
word_cloud: word_cloud tag_cloud | 词云 高频词 | most_used_words words_bigger common_words
network_graph: network_graph graph nodes edges | 网络图 关系图 谁认识谁 人际 | connected_to
mind_map: mind_map mindmap brainstorm | 思维导图 脑图 导图 发散 理一理想法 | ideas branches
flow_diagram: flow_diagram flowchart flow process workflow | 流程图 流程 步骤图 | steps decision boxes_and_arrows step_by_step
fishbone: fishbone ishikawa cause_and_effect | 鱼骨图 因果图 | root_causes causes reasons 原因
org_chart: org_chart organization_chart hierarchy organizational | 组织架构图 组织结构图 组织架构 上下级 谁管谁 | who_reports_to reporting_lines 汇报关系 上下级 boss
venn: venn overlap sets intersection | 韦恩图 交集 重叠 共同 | in_common both_lists
gauge: gauge liquid dial percentage progress | 仪表图 水波图 进度图 满了多少 完成度 | how_full how_far percent_full
gantt: gantt timeline | 甘特图 时间线 |
map_chart: district_map choropleth region map province | 地区图 区域地图 行政区 各省 各地区 | by_region by_province across_the_country
dual_axis: dual_axes dual_axis combined | 双轴图 双轴 | two_scales two_axes
waterfall: waterfall cumulative | 瀑布图 |
statistics: statistics statistical stats analysis regression | 统计 统计分析 |
percentage: percent percentage ratio rate proportion | 百分比 百分之 比例 比率 |
probability: probability chance odds likelihood | 概率 几率 可能性 |
trend: trend growth change | 趋势 增长 变化 |
forecast_data: forecast predict prediction | 预测 预估 |
dataset: dataset data samples | 数据集 数据 样本 |
report: report summary statement | 报告 报表 |
math: math mathematics arithmetic equation expression formula algebra | 数学 算术 方程 公式 表达式 平方 开方 乘以 除以 加上 减去 | square root times plus minus divided 乘 除 加 减 开方 平方 how_much_is sum
unit: unit units measurement metric imperial | 单位 度量 厘米 公斤 斤 米 英寸 | miles kilometers feet inches pounds kilograms celsius fahrenheit 英里 公里 英尺 磅 华氏 摄氏 in_metric
currency: currency exchange money dollar euro yuan | 货币 汇率 美元 欧元 人民币 外币 |
base_number: binary hexadecimal octal radix base number_base | 进制 二进制 十六进制 八进制 | in_hex in_hexadecimal in_binary
color: color colour hex rgb hsl palette | 颜色 色彩 配色 色值 色号 | red blue green shade
date_math: date_math duration difference days_between add_days | 相差 天数 日期差 还剩几天 隔了多少天 | days_until how_many_days weeks_from countdown until 还有多少天 还有几天 days_left days_between ago
graph: graph knowledge_graph network nodes | 图谱 知识图谱 图 |
entity: entity entities node object concept | 实体 节点 对象 人物 | my_brother my_boss 我妈 我爸 我儿子
relation: relation relationship link edge connection association | 关系 联系 关联 关系是 同事 朋友 夫妻 | works_with knows married related_to 认识 colleague friend wife husband tie works_for
observation: observation fact note statement detail | 观察 事实 备注 信息 一点信息 |
memory: memory knowledge remember recall knowledge_graph stored notes | 记忆 记住 知识 记得 记性 记下 | i_told_you what_do_you_know remember_that my_preference my_favourite about_me 之前告诉过你 你知道 关于我 我喜欢 told tell~about about_my i_said
knowledge: knowledge wiki encyclopedia information facts | 知识 百科 |
vector: vector embedding similarity semantic | 向量 语义 相似 | similar_to
backup_db: dump backup export | 备份 导出 |
sample: sample example preview first_rows | 样本 示例 样例 |
`
