/** Owns the concepts of mail, chat, calendars, tasks, notes and documents. The format is in concepts.ts. */

export const PEOPLE = `
email: email mail e_mail gmail outlook message imap smtp | 邮件 邮箱 电子邮件 信 写封 发封 来信 | write_to dear wrote_me wrote~me write_me landlord answer_to heard_from
email_search: inbox mailbox search_email | 收件箱 邮箱 |
draft: draft unsent prepare | 草稿 写好先 先写好 | do_not_send_yet before_i_send not_send_yet 先别发 dont_send do_not_send send_it_yet before_sending hold_off
attachment: attachment attached file enclosure | 附件 | that_came_with
subject: subject title topic | 主题 标题 |
mail_label: label folder category filter | 标签 文件夹 分类 | mail_folder
mail_filter: filter rule filters automatically | 过滤器 规则 过滤规则 以后都 自动放 | whenever_mail automatically_move 自动归类 自动
spam: spam junk unwanted | 垃圾邮件 |
unread: unread read new | 未读 已读 |
send_message: send message post say text dm chat | 发消息 发信息 发送消息 通知 发一条 说一声 留言 | tell_the_team tell_everyone let_know announce
chat: chat message conversation messaging im slack discord telegram teams wechat | 聊天 消息 对话 飞书 微信 钉钉 群里 | posted_in
channel: channel room group conversation chatroom | 频道 群 群聊 群组 聊天室 讨论组 群里 | rooms
thread: thread replies conversation discussion reply | 话题 帖子 讨论串 回复 会话 线程 下面回复 | under_his under_her
reaction: reaction emoji like thumbs_up react | 表情 点赞 反应 竖大拇指 | heart smiley celebrate heart_on
direct_message: direct_message dm private_message | 私信 私聊 |
announcement: announcement announce broadcast | 公告 通告 |
calendar: calendar event schedule agenda appointment google_calendar diary | 日历 日程 行程 行事历 安排 | what_do_i_have tomorrow arrange free busy
event: event meeting appointment session booking | 活动 会议 事件 日程 约会 会 预约 会 安排 聚会 饭局 | dentist lunch_with dinner_with birthday party 生日 dentist physiotherapist visit arrange dinner diary call_off concert
meeting: meeting call conference standup event | 会议 开会 例会 会 的会 开个会 | get_together
free_busy: free busy freebusy availability available free_time | 空闲 有空 忙闲 空档 空不空 啥时候有空 | am_i_free when_can_we any_time double_booked slot 几点有空 有没有空 没安排 free_next both_free find_a_time
attendee: attendee participant guest invitee invite | 参会人 与会者 嘉宾 受邀人 |
accept_invite: respond rsvp accept decline tentative | 接受邀请 回复邀请 参加 去参加 | i_will_be_there cannot_make_it i_will_come invited_me
recurring: recurring repeat weekly daily monthly every | 重复 每周 每天 定期 |
reminder: reminder remind alarm notify alert | 提醒 闹钟 | dont_let_me_forget
task: task todo to_do action_item chore item chore errand | 任务 待办 事项 待办事项 要做的事 事 活 该做的事 | need_to shopping_list on_my_plate supposed_to_do 要做 该做 milk taxes dont_forget remind to_be_done 待办里 water_the buy
todo_list: todo checklist task_list list | 待办清单 清单 | my_list forget_to
due: due deadline overdue expiry | 到期 截止 期限 逾期 截止日期 之前完成 | by_friday late due_next
priority: priority urgent important urgency | 优先级 紧急 重要 优先 |
subtask: subtask child_task checklist | 子任务 |
board: board kanban trello | 看板 面板 |
card: card ticket item task | 卡片 任务卡 卡片 一张卡 | sticky
list_column: list column lane stage | 列表 列 泳道 那列 | done_column backlog
checklist: checklist check_item tick | 检查清单 清单 核对清单 步骤清单 | tick_off steps_to
section: section heading part | 分区 小节 部分 章节 |
note: note notes memo jot journal diary | 笔记 备忘 便签 日记 记录 写的笔记 | write_down wrote_about
page: page document doc note article wiki | 页面 文档 页 笔记 文章 |
document: document doc docs word page paper | 文档 文件 资料 |
block: block paragraph section heading | 块 段落 内容块 一段 | at_the_end_of paragraph bottom_of
wiki: wiki knowledge_base confluence notion | 知识库 维基 |
workspace: workspace team organization | 工作区 空间 |
template: template boilerplate | 模板 |
comment_doc: comment discussion feedback remark | 评论 批注 意见 讨论 留言 | remark
contact: contact person address_book people profile | 联系人 通讯录 人 |
phone: phone call telephone sms text_message dial | 电话 短信 拨打 打电话 |
profile: profile account user_info bio avatar | 资料 个人信息 档案 头像 账号 | time_zone title 职位
member: member user participant people collaborator | 成员 用户 人员 大家 有谁 哪些人 | who_else
poll: poll vote survey questionnaire | 投票 问卷 |
presentation: presentation slides deck powerpoint | 演示文稿 幻灯片 |
habit: habit routine goal | 习惯 目标 |
project_mgmt: project_management jira asana linear sprint | 项目管理 |
time_entry: time_entry timesheet track_time | 工时 计时 |
activity: activity feed recent_activity action | 动态 活动 活跃 动静 近况 | happened lately
approval: approval approve sign_off | 审批 |
form_survey: form survey response | 表单 问卷 |
employee: employee staff hr personnel | 员工 人事 |
recruiting: candidate resume recruiting applicant | 招聘 简历 候选人 |
`
