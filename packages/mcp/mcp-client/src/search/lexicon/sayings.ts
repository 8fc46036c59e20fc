/**
 * Owns what people say who never name the thing: more words for the concepts of the other tables. The format is in
 * concepts.ts.
 */

export const SAYINGS = `
memory: memorized | 记性里 跟你说过 记着 | ever_told you_know_about remember_that you_remember forget_that
read: dump | |
graph: | | everything_you
pipeline: ci build_status | | is~green is~red is~passing build_green tests_pass ci_green
status: | | is~green is~passing have_i_changed did_i_change have_i_changed_locally
user: handle username nickname | 账号名 有哪些人 | handle_of whos_in
github: open_source github_project | 开源 开源项目 |
repository: open_source open_source_project | 开源项目 | open_source_library popular_projects
type_text: | | into~box into~field login_box text_box put~into type~into write~into enter~into
form: login_box text_box text_field | |
screenshot: snap grab_a_picture | 网页截图 | snap_a_picture how_the_site_looks how_the_page_looks picture_of_how what_it_looks_like
web_page: | | how_the_site the_page the_site
console: js_errors page_errors | | javascript_errors any_errors page_log logs_any page~errors
sitemap: every_page all_pages pages_of | 所有页面 | every_page_of list_every_page all_pages_of
document_db: mongo | 文档库 | from_mongo
query: | | get_all older_than younger_than greater_than less_than more_than which_rows rows_in
cluster: | | running_in_the_cluster
kubernetes: | | the_cluster in_the_cluster on_the_cluster running_in_the_cluster our_cluster
output: printed | 输出 | command_print has~printed did~print printed_anything print_so_far command_say 命令输出 刚才那个命令
process: | 命令 在跑的程序 | running_program the_command the_terminal in_the_terminal in_a_terminal 在终端里 终端里 what_is_open eating_my hogging_my
email: inbox_message | 电邮 来函 回信 | any_mail from_the_bank the_landlord newsletter dear hear_from hear_back from_my_boss
email_search: search_emails | | any_mail mail_from anything_from write_me did~write did~email 发来的邮件 来的邮件 翻一下
search: | 翻 翻一翻 找不着 翻出来 | any_mail any_email is_there_any mail_from next_appointment when_is_my files_mention files_contain which~mention i_lost where_did~put
mail_filter: newsletters | | should_go go_straight straight_to automatically from_now_on files_my_mail rule_that
event: | 见面 约个 约一个 约个会 碰头 一点钟 两点 三点 四点 五点 六点 七点 八点 十点 | my_next o_clock oclock 上午 下午 中午 at_noon in_the_morning in_the_afternoon in_the_evening for_lunch for_coffee
reschedule: | | push_my push~to oclock_to
calendar: gcal agenda | 日程表 行程表 | push_my o_clock oclock my_week my_day busy_on my_schedule am_i_busy
unit: kilos kilo lbs pound ounce ounces grams gram litres liters gallons metres meters yards | 千克 克 升 加仑 | how_many_kilos how_many_miles how_many_feet how_many_grams
convert: | | how_many_kilos how_many_miles how_many_km how_many_feet how_many_grams how_many_liters
merge_git: | 发起合并 |
pull_request: | 发起合并 提合并 合并申请 代码评审 | open_an_mr approve~request
reaction: | 点个赞 点赞 点个 赞一下 爱心 |
size: | 多少空间 占了多少空间 占空间 多大空间 最占地方 | most_room taking_up
org_chart: | 架构图 公司架构 公司架构图 人事架构 谁向谁汇报 | chain_of_command reports_to
radar: | 几个方面 各方面 多个方面 多维 打分 各项能力 | several_aspects rate~on strengths_and_weaknesses
chart: | 对比图 |
task: | 没做 要办的事 没办 什么事 交费 任务清单 待办清单 | my_list 有什么事 今天还有 still_have_to left_to_do
draw: | 画个 |
shape: box | 方框 | draw_a_box
share_drawing: share_drawing excalidraw_url shareable | | link_to_the_drawing link_to_the_diagram link_to_the_sketch
helm: | | from_its_chart on_the_cluster
install: | | set~up_on
comment: | 下面回复 下面回复一句 回复一句 |
create: | 画两个 约个 约一个 约个会 | forget_to remind_me_to dont_let_me_forget draw_a file_a_bug open_a_ticket log_a_ticket keep~eye tell_me_when let_me_know_when
directory: | 文件夹里 建个文件夹 | whats_in_my what_is_in_my downloads_folder
javascript: | | in_the_open_page run~page document_title
upload: | | attach~site attach~form application_form
browser: | | on_the_site open_page current_page
page_snapshot: | | elements_are on_the_current_page
schema: | | which_properties what_properties properties
diff: | 我改了啥 | what_differs differs_between have_i_changed did_i_change
opening_hours: | | is_it_still_open
paper: | | related_papers similar_papers
link: related | | like_this more_like what_else
input: | | type~program type~running
usage: | 占了多少 | takes_up
namespace: | | use~cluster
switch: | | use~from_here_on
list: | | 有哪些 还有什么 has_what
theme: dark_mode light_mode night_mode | 深色模式 夜间模式 |
forget: | | forget_everything forget~about forget_what
checklist: | | step second_step
send: | 寄给 捎给 | drop_a_line fire_off give~heads_up
draft: | 打个草稿 先别发出去 | without_sending hold_it leave_it_unsent
attachment: | 附带的 | attached_to file_in_the_mail
free_busy: | 有没有时间 抽得出时间 | have_time squeeze_in find_time both_available
accept_invite: | 婉拒 不参加 答应 | accept~invite decline~invite turn~invite rsvp_yes rsvp_no cannot_come count_me_in
complete: | 打勾 打个勾 勾掉 办好 | got_it_done through_with is_done
due: | 过期 拖着 | past_due
weather: | 会冷吗 雨伞 | raincoat will_it_rain will_it_snow is_it_raining how_hot how_cold
weather_alert: | 台风 暴雨 警告 | flood_warning heat_warning safe_to_go
directions: | 开车到 走过去 坐地铁 | way_to drive_to walk_to train_to get_to route_to
distance: | 要开多久 要走多久 | how_far_is far_away minutes_to
geocode: | 在地图上哪里 | lat_long
nearby: | 这边 这附近 | around_me close_by close_to
local_search: | 店铺 维修 理发店 超市 | electrician mechanic dentist hairdresser bakery supermarket
web_search: | 网上看看 新闻里 | on_the_internet in_the_news search_online check_online
research: | 调查清楚 写份报告 | deep_dive dig_into with_sources well_researched
scrape: | 网页内容 正文拿下来 | what_is_on_this_page contents_of_this_page text_from_this
monitor: | 有变化 有更新 变了告诉我 | when~changes whenever~changes if~changes
crawl_site: | 整站 全部抓下来 | the_entire_documentation
image_generation: | 画幅画 来张画 配图 | paint_me illustration_of
click_element: | 按一下 点那个 | push_the_button hit_the_button tap_on
navigate: | 去一下 上这个网站 | bring_up_the_site head_to
keyboard: | 按回车 敲 | hit_return press_return press_the_key
dialog: | 跳出 弹了个 | popup_says pop_up
dropdown: | 列表里选 | pick~from_the_list from_the_dropdown
network_request: | 接口调用 请求了哪些 | requests_the_page backend_calls
wait: | 等它 等到 | hold_on until~gone until~ready
documentation: | 用法 | how_to_use
page: | 周报 笔记页 | meeting_notes
block: paragraph | 段落 这一段 |
pod: | 容器组 | crashing
scale: | 多开 加几个 | more_replicas run~more_copies
rollout: | 退回上一版 | undo~release
container: | 容器里 进容器 | inside_the_container
index: | 查得快 查询快点 |
aggregate: | 每个国家 各地 平均多少 | average~per total~per sum~per
delete_data: | 清掉 | wipe_out
performance: | 太卡 这么慢 | so_slow why_slow
blame: | 这行是谁 | wrote_this_line wrote_this_code
stash: | 先搁着 | half_done
reset: | 撤掉上次提交 | undo~commit
cherry_pick: | 只要那个提交 | only_that_commit just_one_commit
pull: | 同步一下代码 | newest_from latest_from
kill: | 强关 强行关掉 | kill_it force_it
archive_file: | 打个包 | zip~up
password: | 强密码 随机密码 |
convert_time: | 换成北京时间 | what_time_is_it_there
pie_chart: | 花在哪 各占多少 | share_of breakdown_of
funnel: | 哪一步走掉 | lose_people lose_customers
mind_map: | 头脑风暴 | brainstorm_map
word_cloud: | 出现最多的词 | words_come_up
scatter: | 有没有关系 | relates_to depend_on
line_chart: | 这一年的变化 | over_the_year through_the_year
canvas: | 白板 |
alignment: | 靠左 靠右 | line_up on_the_left on_the_right
lock: | 别让人动 | nobody_moves cannot_be_moved
review: | 审过 | sign~off approve~request
issue: | 提单子 报障 | file_a_bug log_a_ticket open_a_ticket
channel: | 哪些群 |
thread: | 跟在后面回 | in_the_thread under~message
error: | 线上报错 出错最多 | hitting_production in_production
crash: | 线上报的 | production_errors
row: | 一条信息 | new_contact add_a_contact
relation: | 谁认识谁 |
observation: | 爱吃 过敏 | allergic birthday_is favourite
`
