/** Owns the concepts of the web: pages, browsers, search engines. The format is in concepts.ts. */

export const WEB = `
web: web internet online website www site | 网络 互联网 网上 网站 在线 上网 全网 | google_it
web_search: web_search search_engine google bing brave internet_search search_the_web | 网上搜 搜索引擎 网络搜索 百度 谷歌 上网查 网上查 上网搜 搜一搜 网上找 查查新闻 上网 | latest_news look_up_online news recent current_events whats_new 最新消息 最近的 新闻 资讯 the_latest latest happening these_days reviews_of
web_page: web_page webpage page website site url html article | 网页 页面 网站 文章 网址 这个网址 这篇文章 | this_link this_article
scrape: scrape scraping extract crawl fetch_page page_content copy~text | 抓取 爬取 提取 采集 抓网页 全文 正文内容 读网页 | text_of_this_page what_does_this_article_say grab_the_text 网页内容 正文 full_text plain_text_of
crawl_site: crawl crawler spider whole_site recursive | 爬整个 全站 爬虫 爬遍 每一页 所有页面都 | every_page all_pages entire_site whole_website all_their_pages
sitemap: map sitemap links urls discover_urls | 站点地图 网站地图 链接 所有网页 全部链接 | all_the_links list_of_pages every_url which_pages structure_of_the_site 有哪些页面 所有链接 all_links
browser: browser chrome firefox tab web_browser headless playwright puppeteer | 浏览器 标签页 | spinner popup
navigate: navigate go_to visit open goto url | 打开 访问 跳转 前往 进入 导航到 进到 转到网址 | take_me_to open_the_website load_the_page 打开网站 打开网页 pull_up_the_site
go_back: back previous_page navigate_back return_to | 后退 返回 上一页 退回去 退回 退回到 | return_to_the_page_before before page_before
go_forward: forward next_page | 前进 下一页 |
tab: tab tabs | 标签页 标签 选项卡 |
screenshot: screenshot screen_capture capture snapshot screen_shot | 截图 截屏 屏幕截图 截个图 截张图 拍下来 屏幕图 | picture_of_the_page picture_of_the_screen what_the_page_looks_like photo_of_the_screen 页面长什么样 how_it_looks
page_snapshot: snapshot accessibility page_state | 快照 页面结构 页面元素 | what_is_on_the_page elements_on_the_page 页面上有什么 on_the_screen
form: form forms fields input checkbox textbox fill | 表单 填表 输入框 报名 注册表 | sign_up_form my_name_and_address fill_in fill_out 报名表 sign_up register
click_element: click press button element | 点击 按钮 点一下 |
type_text: type fill input keyboard enter text | 输入 填 键入 打字 | into_the_search_box write_in_the_field
keyboard: keyboard key press keypress shortcut hotkey | 键盘 按键 快捷键 回车 | enter_key escape tab_key hit_enter hit_escape press_enter
mouse: mouse cursor pointer drag | 鼠标 |
dropdown: select dropdown option combobox menu | 下拉 选项 下拉框 下拉菜单 选一下 | choose_from menu
dialog: dialog alert popup confirm modal prompt | 弹窗 对话框 弹出 弹出框 跳出来的 弹框 | popped_up accept_the asking_me are_you_sure
javascript: javascript js script evaluate code execute | 脚本 代码 |
console: console log messages browser_console | 控制台 日志 报错 | errors_on_the_page javascript_errors throws logged_by_the_page
network_request: network request requests http traffic xhr api_calls | 网络请求 请求 接口请求 抓包 | what_does_the_page_load calls_it_makes which_requests 加载了什么 server_calls requests_sent
http: http request rest get post curl response | 请求 接口 | call_this_api
cookie: cookie cookies session | |
element: element selector dom node component button | 元素 控件 组件 |
viewport: viewport resize window_size device emulate mobile | 视口 窗口大小 | phone_size phone_screen mobile_view smaller_window 手机大小 tablet_size
html: html markup dom | 网页源码 |
markdown: markdown md | |
rss: rss feed atom | 订阅源 |
news: news headline headlines article current_events journalism | 新闻 头条 时事 资讯 消息 | happened_today whats_going_on
research: research deep_research investigate study report literature survey | 研究 调研 调查 深入 综述 全面了解 详细报告 | thorough in_depth many_sources 多方 全面 background_on everything_about
source: source reference citation | 来源 出处 引用 |
paper: paper arxiv academic publication scholar article study | 论文 学术 文献 期刊 | scientific scientists
encyclopedia: wikipedia wiki encyclopedia | 维基 百科 维基百科 |
video: video youtube clip movie film | 视频 影片 电影 |
local_search: local business restaurant shop nearby place store | 本地 附近 餐馆 商家 店 | near_me around_here open_now near plumber dentist 身边
structured: structured json_schema fields extraction | 结构化 |
link: link url hyperlink | 链接 网址 | link_to
download_file: download save file | 下载 |
upload_file: upload attach file | 上传 上传文件 传文件 | attach_my choose_file resume cv
captcha: captcha bot_check | 验证码 |
proxy: proxy vpn | 代理 |
pdf: pdf | |
seo: seo ranking backlinks keyword | 搜索排名 |
bookmark: bookmark favourite favorite | 书签 收藏 |
agent: agent autonomous assistant bot | 智能体 助手 机器人 |
`
