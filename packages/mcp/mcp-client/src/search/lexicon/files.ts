/** Owns the concepts of files, shells, processes and systems. The format is in concepts.ts. */

export const FILES = `
file: file document filename doc paper | 文件 档案 文档 那个文件 | txt csv log_file readme spreadsheet photo resume 合同 照片 saved attached manuscript letter
directory: directory folder dir path subfolder subdirectory location | 目录 文件夹 路径 子目录 哪个文件夹 下面 | downloads desktop documents in_here where_is 下载里 桌面上 folder_called inside_the
tree: tree hierarchy recursive nested structure | 树 树形 层级 结构 递归 目录树 | laid_out organised everything_under
filesystem: filesystem file_system disk drive storage | 文件系统 磁盘 硬盘 | space
path: path location | 路径 位置 |
permission: permission access allowed rights privilege role acl authorized | 权限 访问权 允许 角色 授权 准许 有权 | can_i may_i able_to who_can where_can 能不能 可以碰 能访问 may_you look_into off_limits
size: size bytes length large big volume weight heavy | 大小 多大 体积 尺寸 占空间 最大的 | how_big biggest takes_up space megabytes 占多少 takes_up most_space biggest gigabytes huge
text: text string plain words | 文本 文字 字符串 |
line: line row head tail first last | 行 前几行 后几行 最后几行 开头 结尾 | beginning end top bottom lines
content: content contents body | 内容 正文 |
metadata: metadata info stat properties attributes details | 元数据 属性 信息 | last_modified when_was how_big created owner 什么时候改
archive_file: zip gzip tar compress compressed archive unzip decompress | 压缩 压缩包 解压 打包 压缩一下 | smaller less_room
binary: binary base64 bytes blob | 二进制 |
media_file: media audio image picture video photo | 媒体 音频 图片 视频 照片 |
multiple: multiple several many batch bulk at_once various both together each_of | 多个 批量 一次 同时 几个 一起 一次性 几份 好几个 | these all_of in_one_go these_three two three both
shell: shell terminal command bash console command_line cli script npm | 终端 命令 命令行 脚本 控制台 | run npm make node pip
process: process task program pid job running app application | 进程 程序 任务 后台 程序 应用 软件 | eating_cpu hogging stuck what_is_running 占用 hangs npm start_a frozen running
session: session connection | 会话 | open_terminals
kill: kill terminate force_quit stop end | 杀掉 杀死 结束 终止 强制 |
output: output stdout result printed log print | 输出 结果 打印 打印出 输出了 | printed terminal_say has_printed
input: input stdin | 输入 |
environment: environment env variable variables | 环境变量 环境 变量 |
system: system machine computer host os operating_system server | 系统 电脑 主机 机器 服务器 |
cpu: cpu processor load core | 处理器 负载 |
ram: ram memory_usage heap | 内存 内存占用 |
network: network internet connection port socket | 网络 端口 联网 |
usage: usage statistics stats metrics consumption utilization credits credit | 使用情况 用量 统计 占用 使用率 额度 余量 剩余 用了多少 还能用 | how_much have_left how_often remaining used_up
history: history log past recent previous earlier timeline so_far_done | 历史 记录 以前 过去 之前 最近 干了什么 之前做了 | what_did lately so_far 之前的 做过什么 record_of past_hour who_moved who_did and_when
version: version release revision | 版本 |
package: package module dependency library npm pip | 包 依赖 模块 库 |
word_count: word_count characters words statistics how_many_words how_long_is_the_text | 字数 字符数 多少字 几个字 | how_long essay
hash: hash checksum digest md5 sha fingerprint | 哈希 校验和 摘要 散列 指纹 | md5sum
encoding: encoding charset utf base64 url_encode encode decode | 编码 | decode in_plain_text gibberish
uuid: uuid guid unique_id identifier random_id | 唯一标识 唯一编号 |
random: random shuffle dice chance pick | 随机 抽 掷 |
password: password passphrase secret pin credential | 密码 口令 | secure
regex: regex regexp regular_expression pattern glob wildcard | 正则 正则表达式 模式 通配 匹配规则 | matches
json: json yaml xml toml csv | 数据格式 |
config_file: config settings configuration preferences | 配置 设置 |
printer: print printer | 打印 |
clipboard: clipboard copy paste | 剪贴板 粘贴 |
window: window screen viewport | 窗口 屏幕 | wider bigger phone mobile
prompt: prompt template instruction | 提示词 模板 |
tool: tool function capability | 工具 功能 |
service: service daemon | 服务 |
remote: remote ssh server host upstream origin | 远程 远端 |
background: background async long_running | 后台 异步 |
progress: progress percent status step | 进度 | how_far long_running slow takes_a_while 多久
status: status state condition health situation progress | 状态 状况 情况 进展 | how_is going_on what_changed uncommitted doing so_far 怎么样了 怎么样 not_committed 还没提交 没提交 有没有改
health: health healthy alive ping uptime ready | 健康 存活 正常 可用 正常吗 还活着 | is_it_up working broken down 挂了 能用 still_working up_and_running
error: error exception crash failure fault bug failed problem complaint | 错误 异常 报错 崩溃 故障 失败 出错 毛病 | went_wrong broken keeps_failing why_does 坏了 怎么回事 fails broke
warning: warning alert alarm | 警告 警报 告警 预警 |
debug: debug troubleshoot diagnose trace | 调试 排查 诊断 |
log: log logs logging trace output journal record printout | 日志 记录 输出 打的日志 | what_happened printed went_wrong complaining saying
event: event occurrence incident | 事件 |
resource: resource asset | 资源 | objects kinds
url: url link address uri href web_address website | 网址 链接 地址 连接 |
id: id identifier key uuid | 编号 标识 |
name: name title called | 名称 名字 名 标题 |
date: date day when calendar | 日期 几号 哪天 | monday tuesday wednesday thursday friday saturday sunday
number: number numeric integer figure | 数字 数 数值 |
`
