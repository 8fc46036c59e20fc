/** Owns the concepts of doing: what one does to things, whatever the things are. The format is in concepts.ts. */

export const ACTIONS = `
create: create make build generate new establish compose produce craft prepare set_up put_together draw_up set~up form spawn open~new | 创建 新建 建立 生成 建一个 建个 做一个 做个 弄一个 弄个 新增 制作 搭建 开一个 开个 加一 安排 起一个 整个 搞一个 写个 来个 弄个新的 | start need want another 来一个 整一个 file_a open_a give_me_a fresh remember write draft report put~in arrange book schedule 写 预约 起草 加一 from_scratch brand_new
add: add append attach insert include put plus stick attach | 添加 增加 加入 加上 加到 追加 插入 放到 放进 附上 加个 加一个 补充 加一 加条 加张 加行 加列 贴 插 | extra also more into put put~into put~on get~into remember write~down 记
delete: delete remove erase destroy drop purge unlink trash discard wipe clear clean clean_up get_rid_of throw_away throw_out take_out eliminate take~out take~off take~away throw~away throw~out scratch cross_out get_rid_of cut_out bin strip dump~out | 删除 删掉 移除 清除 清空 去掉 扔掉 删了 删 干掉 丢掉 清理 销毁 划掉 去除 踢掉 抹掉 不留 | no_longer not_need obsolete 不要了 不需要了 没用了 pointless useless duplicates cancel call~off scrap undo 取消 no_more dont_need can_go
update: update edit modify change alter revise adjust amend patch tweak set rewrite correct fix change~to set~to overwrite reword upgrade | 更新 修改 编辑 改成 改为 更改 变更 调整 修正 改一下 改下 改到 设为 设成 设置 改 修正 改掉 换成 改写 标成 升级 | instead should_be wrong_now is_wrong be_moved rename reschedule postpone push~back mark assign complete finish resolve enable disable label urgent due 推迟 改期 分配 mistake outdated 错了 写错 newer bring~up
rename: rename retitle renaming be_called | 重命名 改名 改名字 换个名字 更名 改叫 叫做 | new_name call_it should_be_called call~instead
get: get fetch retrieve read load obtain lookup look_up grab pull | 获取 取得 读取 拿到 取出 取 查看 看看 看一下 看下 拿 调出 取一下 | show tell see give what_is what_does 告诉我 给我 是什么 什么样 load pull~up what_was
list: list enumerate browse overview all every roster directory | 列出 列表 所有 全部 清单 罗列 哪些 有什么 都有 一览 都有谁 有几个 名单 | which there_are how_many several where_are 都有什么 有什么 each every_one
search: search find query locate lookup look_up look_for hunt seek discover explore track_down dig_up dig_out | 搜索 查找 搜 找到 找出 寻找 检索 查询 找一下 搜一下 查一下 搜搜 找找 找 查 找下 搜下 翻一下 翻翻 搜寻 | where mention contain 有没有 在哪 哪里 提到 关于 whereabouts somewhere did~write find~out anything_about anywhere misplaced cant_find 找不到
view: view show display present inspect open look examine preview peek | 查看 显示 展示 预览 打开看 看看 看一下 浏览 看 | see how_does look_like 长什么样
describe: describe detail details information info about explain explanation metadata properties attributes particulars specifics | 描述 详情 详细 信息 说明 属性 介绍 元数据 资料 解释 具体信息 详细情况 | what_is tell_me_about more_about when_was how_big 怎么回事 什么时候 full_story everything_about
write: write save store put record persist jot jot_down put_down note_down | 写入 写 保存 存储 存到 存成 存为 写到 记录 存 存下来 写下 记录下来 | down into 记下来 on_paper
read: read load view contents content go_through skim | 读取 阅读 读 内容 读一下 念 读一读 读出来 | what_does_it_say inside says says_in 里面写了什么 写了什么 写的什么 what_did told what~say what~says what_is_in
copy: copy duplicate clone replicate one_just_like mirror | 复制 拷贝 克隆 副本 备一份 再来一份 复印 照抄 | another same_as just_like_this second_one
move: move transfer relocate shift drag shift put_elsewhere bring~over | 移动 移到 挪到 转移 搬到 迁移 挪 搬 拖到 移 换到 调到 放到 拿到 | elsewhere into over_to put~into put~under put~in instead belongs_in
send: send deliver post submit dispatch transmit forward write_to drop~line shoot~over mail | 发送 发给 发到 发出 寄 投递 提交 转发 发一条 发个 发 写信 发消息 传给 发过去 发去 | tell let_know inform 告诉 通知 说一声 tell let~know email_to write~to let_them_know
reply: reply respond answer response answer write_back | 回复 回应 答复 回答 回一下 回 回信 回一句 | back get_back_to say_back back_to_him back_to_her
forward: forward redirect pass_on | 转发 转给 |
receive: receive incoming inbox | 收到 接收 收件 |
upload: upload import ingest attach push add~file put~online | 上传 导入 传到 传上去 传上 上载 |
download: download export pull fetch save grab~file | 下载 导出 拉下来 下到本地 保存到本地 存到电脑 下下来 | locally to_my_computer
import: import load bring_in ingest migrate | 导入 引入 |
export: export dump extract output save_as | 导出 输出 另存 | as_a_file
open: open launch start visit go_to pull~up fire_up | 打开 启动 开启 点开 | bring_up
close: close shut quit exit end finish dismiss shut_down | 关闭 关掉 关上 退出 结束 关了 关 | done_with
start: start launch begin run boot spin_up initialize init turn~on switch~on | 启动 开始 运行 初始化 开机 跑起来 打开 起动 | kick_off get_going going
stop: stop halt end terminate abort kill cancel shut_down interrupt turn~off switch~off shut~down cut~off give_up | 停止 停掉 终止 中止 结束 杀掉 停下 停 不要再 别再 | hang stuck frozen 卡住 卡死 no_longer enough
restart: restart reboot reload refresh bounce | 重启 重新启动 重新加载 重开 | again
cancel: cancel abort call_off revoke withdraw call~off scrap drop | 取消 撤销 撤回 作废 不办了 取消掉 不开了 不去 | no_longer 不去了 不开了
undo: undo revert rollback restore reset go_back unstage take_back roll~back put~back_as take~back go_back_to | 撤销 回滚 还原 恢复 撤回 退回 回退 后悔 回到之前 恢复到 | mistake by_mistake before accidentally throw_away_my_changes 之前的版本 上一个版本 as_it_was earlier_version
redo: redo repeat retry rerun again | 重做 重试 再来一次 重新 |
restore: restore recover bring_back undelete unarchive bring~back reopen get~back | 恢复 还原 找回 找回来 重新打开 | lost back too_early
archive: archive shelve retire put~away | 归档 存档 封存 收起来 | put_away finished obsolete
enable: enable activate turn_on allow switch_on | 启用 开启 激活 打开 允许 |
disable: disable deactivate turn_off mute switch_off block | 禁用 停用 关闭 屏蔽 静音 |
lock: lock freeze protect fix_in_place | 锁定 冻结 保护 锁住 | nobody_can
unlock: unlock unfreeze release | 解锁 解冻 |
run: run execute perform invoke launch call evaluate fire | 运行 执行 跑 调用 跑一下 跑一下 执行一下 跑一跑 执行下 | do
wait: wait pause sleep delay until hold hang_on | 等待 等 暂停 等到 等一下 延迟 等着 稍等 | finish_loading appears 加载完 until_it_is
check: check verify validate confirm ensure test make_sure double_check look_over | 检查 校验 验证 确认 核对 看看是否 测试 查查 看看对不对 是否 | is_it does_it correct whether right valid 是不是 对不对 有没有问题 行不行 really still
compare: compare diff difference contrast versus changes differ set_side_by_side | 比较 对比 差异 区别 不同 差别 改动 有什么变化 比一比 比比 对照 | between changed different better which_is_better unlike
merge: merge combine join unify concatenate blend bring~together fold~into | 合并 并入 合到 合进 整合 合到一起 并到 | into together
split: split divide separate partition break_up | 拆分 分割 分开 切分 |
sort: sort order rank arrange top | 排序 排列 排名 排行 从大到小 从小到大 | biggest highest latest most 最多 最高 最大 top_ten
filter: filter narrow only where select | 筛选 过滤 只要 只看 |
count: count number_of total how_many tally quantity amount head_count | 计数 数量 总数 统计 多少个 几个 有多少 多少条 几条 多少 数一数 数一下 统计一下 |
sum: sum total add_up aggregate | 求和 总和 合计 加起来 |
calculate: calculate compute evaluate math arithmetic figure_out work_out tally | 计算 算一下 算出 运算 算 等于多少 等于几 是多少 结果是 | plus times divided percent how_much what_is_the_sum add_up
convert: convert transform translate change_into turn_into format encode turn~into change~into express~in | 转换 转成 转为 变成 换成 换算 转化 换算成 变为 | into to_format in_terms_of equivalent
encode: encode encoding encrypt | 编码 加密 |
decode: decode decrypt unpack | 解码 解密 解开 |
format: format prettify beautify style tidy indent | 格式化 美化 排版 格式 | readable pretty ugly 好看
parse: parse extract interpret analyze | 解析 提取 抽取 |
extract: extract scrape pull_out grab harvest | 提取 抽取 抓取 抓 摘出 |
analyze: analyze analyse analysis examine inspect assess evaluate study insight | 分析 评估 研究 剖析 | why how_well
summarize: summarize summary digest brief overview recap tldr boil~down sum~up | 总结 摘要 概括 概述 概况 归纳 归纳一下 说个大概 | gist short_version main_points 大意 要点 in_short in_brief
translate: translate translation | 翻译 译成 |
explain: explain explanation describe clarify | 解释 说明 讲解 啥意思 什么意思 解释一下 | why how understand 为什么 怎么 what_does meaning
plan: plan planning strategy roadmap think reason thought | 计划 规划 方案 思路 安排 | figure_out approach step_by_step
think: think thinking reason reasoning thought reflect brainstorm consider problem_solving | 思考 推理 想想 琢磨 考虑 推敲 | step_by_step carefully break_down tricky complicated figure_out puzzle 一步一步 一步步 仔细想 复杂
assign: assign allocate delegate give_to assignee responsible hand~to give~to pass~to | 分配 指派 指定 分给 派给 负责人 交给 指给 | who_is_working in_charge 谁负责 responsible_for
share: share publish invite grant shareable pass~around | 分享 共享 公开 发链接 弄成链接 发给大家 给别人看 | with_others give_access everyone link~send send_around others_can
invite: invite invitation add_member | 邀请 拉进来 拉进 |
join: join enter subscribe | 加入 进入 参加 |
leave: leave exit unsubscribe quit | 离开 退出 |
follow: follow subscribe watch star track keep~posted stay_informed | 关注 订阅 跟踪 |
approve: approve accept confirm agree grant sign_off ok green_light | 批准 同意 通过 审批 准了 点头 | looks_good lgtm fine
reject: reject decline deny refuse | 拒绝 驳回 否决 |
review: review feedback inspect audit critique | 评审 审查 审核 复核 评价 审阅 | opinions approve thoughts_on 看过
comment: comment remark note feedback annotate discussion leave~note write~under | 评论 留言 批注 备注 意见 说两句 回复 | say respond reply leave_a 说一句 thoughts
mention: mention tag ping notify | 提及 艾特 |
label: label tag category mark flag classify | 标签 标记 分类 打标签 贴标签 归类 |
mark: mark flag set toggle check_off | 标记 标为 设为 勾选 打勾 |
complete: complete finish done resolve close accomplish check_off tick tick tick~off cross~off check~off wrapped_up close cross_off | 完成 做完 搞定 结束 办完 划掉 已经做完 弄完 弄好 做好了 | already finished i_did 好了 i_have i_already all_done
select: select choose pick option highlight go_for | 选择 选中 挑选 选 下拉 挑一个 |
click: click press tap push hit tick_the | 点击 点一下 点 单击 按下 按 点开 点下 |
type: type enter input fill key_in put~in write~in | 输入 填写 填入 键入 打字 填 填上 写上 | into_the_box
scroll: scroll swipe | 滚动 滑动 翻页 往下拉 |
drag: drag drop pull_over | 拖动 拖拽 拖到 拖 |
hover: hover mouse_over | 悬停 鼠标放 |
resize: resize scale enlarge shrink dimensions size | 调整大小 缩放 放大 缩小 尺寸 | bigger smaller wider narrower
rotate: rotate turn spin | 旋转 转动 |
draw: draw sketch paint illustrate plot diagram render put~on_canvas | 画 绘制 画一个 画个 绘 画图 画出 画个图 画出来 | visualise picture
align: align alignment line_up justify same_edge | 对齐 排齐 排整齐 齐 排成一排 居中 | straight neat
distribute: distribute spread evenly space_out spacing equal_distance same_distance apart | 分布 均匀 间距 间隔一样 等距 |
group: group cluster bundle together make~move_together | 分组 组合 编组 归组 绑在一起 | together as_one
ungroup: ungroup separate | 取消分组 取消组合 解组 |
link: link connect relate relation relationship associate edge | 链接 连接 关联 联系 关系 | between related together works_with knows
connect: connect connection attach link login | 连接 接入 连上 连 |
disconnect: disconnect detach unlink drop | 断开 断连 |
install: install add setup deploy package set~up put~on | 安装 装上 部署 装 装一下 |
uninstall: uninstall remove | 卸载 |
deploy: deploy release rollout ship publish roll~out | 部署 发布 上线 上线一下 发上去 |
configure: configure config settings setting setup preferences option configuration | 配置 设置 选项 偏好 参数 设定 | how_is_it_set
monitor: monitor watch observe track follow keep_an_eye_on keep~eye_on | 监控 监视 观察 盯着 跟踪 留意 关注 盯 | tell_me_when whenever
notify: notify notification alert remind ping inform give~shout | 通知 提醒 告知 告警 说一下 告诉一声 | let_me_know tell_everyone 说一声 大家
schedule: schedule plan book arrange appoint set~up pencil~in fix~date | 安排 预约 排期 日程 预订 定时 约 约一下 定个 | at_three tomorrow_at
reschedule: reschedule postpone move_meeting delay push_back push~back move~to bring_forward postpone | 改期 推迟 延期 改时间 改到 挪到 推到 | later instead
book: book reserve reservation | 预订 预约 订 |
buy: buy purchase order checkout shop | 购买 买 下单 采购 |
pay: pay payment charge bill settle | 支付 付款 付钱 缴费 结算 |
refund: refund reimburse money_back | 退款 退钱 |
sign_in: sign_in log_in login authenticate authorize auth oauth | 登录 登陆 认证 授权 |
sign_out: sign_out log_out logout | 登出 退出登录 注销 |
remember: remember memorize keep_in_mind recall memory note retain bear_in_mind keep~in_mind | 记住 记下 记忆 记得 别忘了 记一下 帮我记 | dont_forget i_told_you told_you earlier previously last_time know_about 之前说过 上次 我跟你说过 以前 for_next_time for_later
forget: forget erase unlearn | 忘记 忘掉 忘了 别记 不要再记 忘了吧 | delete_from_memory
try: try attempt test demo sample example | 尝试 试试 试一下 演示 示例 测试 |
simulate: simulate simulation mimic | 模拟 仿真 |
echo: echo repeat parrot say_back | 回显 重复 原样 复述 | back same word_for_word exactly
backup: backup snapshot save_copy | 备份 快照 |
sync: sync synchronize mirror refresh | 同步 |
replace: replace substitute swap find_and_replace | 替换 换成 取代 换掉 |
crawl: crawl spider scrape harvest | 爬取 爬 抓取 | whole_site entire_site 整个网站 全站
watch: watch monitor observe follow | 观看 观察 监视 |
play: play playback listen | 播放 听 |
record: record capture log | 录制 记录 录 |
tail: tail stream follow live | 实时 持续输出 |
lookup: lookup look_up resolve identify | 查询 查找 识别 |
classify: classify categorize category sort~into | 分类 归类 分个类 |
limit: limit cap quota restrict | 限制 上限 额度 配额 |
swap: swap exchange switch | 交换 调换 |
switch: switch change checkout toggle jump | 切换 切到 转到 跳到 换到 |
hide: hide invisible | 隐藏 |
`
