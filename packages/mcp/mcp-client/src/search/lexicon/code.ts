/** Owns the concepts of source code, version control, its hosting and its delivery. The format is in concepts.ts. */

export const CODE = `
git: git version_control vcs scm | 版本控制 | commit committed checkout
repository: repository repo project codebase source remote_repo | 仓库 代码库 项目 代码仓库 | my_code code_base
commit: commit commits changeset revision committed check_in | 提交 提交记录 提交了什么 提交历史 | changes who_changed what_changed last_change last_few_changes save_my_work 改了什么 谁改的 fixup
branch: branch branches line_of_work line | 分支 | feature main develop master
merge_git: merge merging integrate bring~into | 合并 合进 并入 合到 合回 并回 |
rebase: rebase replay | 变基 | on_top_of
cherry_pick: cherry_pick pick single_commit | 拣选 挑一个提交 | just_that_commit
pull_request: pull_request merge_request pr mr pull_requests merge_requests | 合并请求 拉取请求 拉请求 | propose_my_changes open_a_pr code_review reviewers branch_is_done ask~go_into propose~into up_for_review
issue: issue issues bug ticket problem defect report | 问题 缺陷 工单 议题 漏洞 提个单 报个问题 提单 | complaint feature_request broken file_a reported 反馈 报个 提个 tell_the_maintainers does_nothing does_not_work complaints fails_when
fork: fork forked copy_repository | 复刻 派生 | my_own_copy under_my_account 我自己的账号
push: push upload publish_commits | 推送 推上去 推到 推 推一下 传到远端 | to_the_server online remote share_my_commits
pull: pull fetch_changes update_local latest_changes get~latest | 拉取 拉下来 拉 更新到最新 | latest newest from_the_server 最新 colleagues catch_up
fetch_remote: fetch refs remote | 抓取 拉取 |
stash: stash shelve set_aside park | 暂存 储藏 藏起来 搁置 先存着 存一下 | put_away for_later unfinished temporarily 先放一边 临时
stage: stage staging add index staged | 暂存 加入暂存区 暂存区 提交 | ready_to_commit next_commit get~ready unstage 没提交
tag: tag release version mark | 标签 打标签 版本号 |
release: release version publish changelog | 发布 版本 发版 |
diff: diff difference changes compare change patch delta | 差异 改动 变更 对比 比较 变化 | what_changed what_is_different changed 改了什么 改了哪些 哪里不一样 since_yesterday since_the_last
blame: blame annotate authorship | 追责 谁写的 谁改的 谁动的 谁加的 | who_wrote who_changed who_touched this_line 哪一行 who_added whose who_last
clone: clone checkout_repository copy_repository get~onto | 克隆 下载仓库 拉到本地 | get_a_copy onto_my_machine download
checkout: checkout switch jump_to go_to hop | 切换 检出 切到 换到 转到 |
reset: reset revert undo discard rollback unstage throw~away_changes | 重置 回退 回滚 撤销 取消暂存 不要这些改动 丢弃 | throw_away_my_changes unstage go_back
worktree: worktree working_tree working_copy | 工作树 工作区 | side_by_side two_branches
submodule: submodule | 子模块 |
reflog: reflog reference_log | 引用日志 | lost_commit lost_a_commit
changelog: changelog release_notes | 变更日志 更新日志 |
source_code: code source source_code program snippet function class code_base | 代码 源码 源代码 函数 程序 |
code_search: search_code grep find_in_files ripgrep | 搜代码 代码搜索 | where_do_we_use uses appears_in 哪里用到
language: language programming python javascript typescript java | 语言 编程语言 |
documentation: documentation docs manual guide reference readme api_docs tutorial handbook | 文档 手册 指南 说明书 教程 说明 怎么写 用法 | how_do_i how_to usage examples instructions official 怎么用 官方 用法 example_code newest_version
library: library package framework sdk dependency | 库 框架 依赖 组件库 | react vue next nextjs django spring
api: api endpoint rest graphql openapi | 接口 |
function: function method procedure | 函数 方法 |
test: test tests testing unit_test spec | 测试 单元测试 |
build: build compile make bundle | 构建 编译 打包 |
pipeline: pipeline ci workflow actions job continuous_integration | 流水线 持续集成 工作流 跑通 检查 | checks green red passed passing failing 通过 checks_pass red_or_green
lint: lint linter style_check | 代码检查 |
refactor: refactor restructure rename | 重构 |
review_code: code_review review reviewer | 代码评审 代码审查 评审 |
milestone: milestone sprint iteration | 里程碑 迭代 冲刺 |
project: project workspace | 项目 工程 工作区 |
team: team organization org group company | 团队 组织 小组 公司 |
user: user person people member account contact profile who collaborator author teammate colleague somebody | 用户 人员 成员 账号 联系人 同事 人 作者 谁 哪些人 | someone everybody everyone anyone 大家 名单 who_is
owner: owner author maintainer | 所有者 作者 负责人 |
github: github octocat | |
gitlab: gitlab | |
container: container docker pod image | 容器 镜像 |
docker: docker dockerfile compose | 容器 |
kubernetes: kubernetes k8s kubectl cluster pod deployment node namespace helm | 集群 节点 | replicas rollout staging
pod: pod pods container workload | 容器组 |
cluster: cluster | 集群 |
node: node nodes machine worker | 节点 机器 | host
namespace: namespace namespaces context | 命名空间 |
scale: scale replicas autoscale scaling instances grow shrink | 扩容 缩容 副本 扩展 扩缩容 伸缩 加到 减到 多开几个 | more_copies bigger three_copies handle_more_traffic 实例数 copies_of more_copies instances_of handle_load
rollout: rollout rolling deployment revision rollback | 滚动 发布 上线 回滚 上一版 旧版本 | new_version previous_version go_back_to_the_old version_before
helm: helm chart release | | set~up install~cluster
port_forward: port_forward forward tunnel expose reach~locally | 端口转发 转发 映射 隧道 转到本机 | locally localhost 本地访问 reach_from_my_machine
manifest: manifest yaml apply spec | 清单 |
drain: drain cordon evict maintenance take~out | 驱逐 排空 维护 下线维护 | take_out_of_service
secret: secret credential token key configmap | 密钥 凭证 |
sandbox: sandbox isolated playground | 沙箱 沙盒 |
notebook: notebook jupyter cell | 笔记本 |
ide: editor ide vscode | 编辑器 |
debugger: debugger breakpoint | 调试器 断点 |
performance: performance speed slow latency profile profiling | 性能 速度 慢 延迟 卡 | takes_forever optimise index fast 太慢 优化 takes_ages
security: security vulnerability advisory cve threat | 安全 漏洞 | hacked
trace: trace span tracing | 链路 追踪 |
alert: alert alarm incident page | 告警 报警 警报 |
metric: metric metrics gauge measurement | 指标 |
dashboard: dashboard panel | 仪表盘 看板 面板 |
crash: crash exception stacktrace error_report sentry | 崩溃 异常 堆栈 报错 崩了 闪退 挂 | production users_are_seeing blowing_up 线上 dies
cloud: cloud aws azure gcp hosting | 云 云服务 |
serverless: serverless lambda function worker edge | 无服务器 云函数 |
domain: domain dns nameserver | 域名 解析 |
certificate: certificate ssl tls https | 证书 |
feature_flag: feature_flag flag toggle rollout | 功能开关 灰度 |
queue: queue message_queue job worker | 队列 消息队列 |
cron: cron scheduled_job timer periodic | 定时任务 定时 |
webhook: webhook callback hook | 回调 钩子 |
token: token api_key access_token | 令牌 密钥 |
jwt: jwt json_web_token claims | 令牌 | login_token
`
