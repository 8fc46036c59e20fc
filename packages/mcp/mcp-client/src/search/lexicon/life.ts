/** Owns the concepts of weather, places, time, travel, money and shops. The format is in concepts.ts. */

export const LIFE = `
weather: weather forecast temperature rain snow wind humidity climate conditions | 天气 气温 温度 下雨 下雪 刮风 湿度 气象 气候 几度 多少度 外面冷 | umbrella jacket coat sunny cold hot warm degrees outside picnic 带伞 冷 热 穿什么 户外 晴 how_warm dress
forecast: forecast outlook prediction upcoming | 预报 预测 要不要带 | tomorrow weekend next_week this_week will_it going_to 明天 后天 周末 下周 会不会 tomorrow_afternoon
current_weather: current_conditions observation now current | 现在 当前 此刻 | right_now outside today
weather_alert: alert warning advisory hazard severe storm | 预警 警报 危险天气 | dangerous hurricane tornado 台风 暴雨 danger storm_warning
air_quality: air_quality aqi pollution pollen smog uv | 空气质量 雾霾 污染 花粉 | breathe allergies run_outside 跑步
marine: marine wave waves tide surf sea ocean swell | 海浪 潮汐 海况 海上 浪 | sailing boat beach surfing 出海 冲浪
river: river flood stream streamflow gauge water_level | 河流 洪水 水位 洪涝 | flooding
wildfire: wildfire fire smoke | 山火 野火 火灾 火情 |
lightning: lightning thunder thunderstorm strike | 雷电 闪电 打雷 雷暴 |
radar: radar satellite imagery precipitation | 雷达 卫星云图 云图 |
historical_weather: historical past climate archive | 历史天气 往年 | last_year last_summer in_the_past years_ago on_that_day 去年
earthquake: earthquake seismic quake | 地震 |
astronomy: sunrise sunset moon sun | 日出 日落 月亮 |
place: place location address venue point_of_interest poi landmark | 地点 地方 位置 场所 景点 地址 好吃 吃的 店 | restaurant cafe coffee hotel museum pharmacy shop 餐厅 咖啡 酒店 药店 饭店 phone_number museum pizza gym
location: location city coordinates latitude longitude gps position place | 位置 城市 坐标 经纬度 地点 定位 |
geocode: geocode geocoding coordinates address latitude longitude | 地理编码 坐标 经纬度 地址转坐标 在地图上的坐标 | where_exactly_is exact_position
reverse_geocode: reverse_geocode reverse_geocoding coordinates_to_address | 逆地理 坐标转地址 | what_address what_is_at which_street street_address 是什么地方 什么地址
directions: directions route navigation way itinerary path driving walking transit | 路线 导航 怎么走 怎么去 走法 线路 怎么开 到那里 路上怎么 | how_do_i_get get_from drive_from walk_to best_way 开车去 走路去 坐车 on_foot by_bike by_car from_here
distance: distance how_far travel_time duration matrix far | 距离 多远 路程 多久 多长时间 最近 路上要 | how_long_does_it_take how_long_to_drive closer nearest 哪个近 最近 nearest_to
elevation: elevation altitude height | 海拔 高度 多高 | how_high above_sea above_the_sea
map: map maps google_maps mapping | 地图 |
nearby: nearby near around close closest neighbourhood | 附近 周围 周边 旁边 最近 | within_walking near_me
traffic: traffic congestion jam | 路况 堵车 交通 |
opening_hours: hours opening_hours open reviews rating phone | 营业时间 营业 评分 评价 几点开门 几点关门 | still_open open_on_sunday reviews_of worth 开门 关门 still_open phone_number
travel: travel trip journey vacation holiday tour | 旅行 旅游 出行 行程 度假 | going_to
flight: flight airline airport plane airfare | 航班 机票 飞机 机场 |
hotel: hotel accommodation lodging stay hostel | 酒店 住宿 宾馆 民宿 |
train: train railway rail ticket | 火车 高铁 车票 铁路 |
restaurant: restaurant dining food cafe eat | 餐厅 饭店 美食 吃饭 餐馆 |
recipe: recipe cook cooking meal ingredient | 菜谱 做菜 食谱 烹饪 |
time: time clock current_time now hour datetime timestamp | 时间 几点 现在几点 时刻 时钟 几点钟 | what_time is_it_in oclock
timezone: timezone time_zone tz utc gmt local_time | 时区 当地时间 那边时间 | in_tokyo in_london in_new_york oclock 那边几点 时差 for_us for_them over_there
convert_time: convert_time time_conversion | 时间换算 换算时间 | my_time their_time for_us_in 相当于
timestamp: timestamp epoch unix | 时间戳 | since_1970
relative_time: relative_time ago from_now | 多久以前 多久之前 过去多久 | how_long_ago how_long_since
week_number: week week_number week_of_year | 第几周 周数 |
days_in_month: days_in_month month days | 有多少天 几天 月份 | how_long_is january february march april june july august september october november december
weekday: weekday day_of_week | 星期几 周几 |
holiday: holiday festival public_holiday | 节日 假日 放假 |
health: health medical fitness exercise sleep doctor | 健康 医疗 运动 睡眠 医生 |
money: money price cost amount fee budget | 钱 价格 费用 金额 成本 预算 | how_much expensive cheap 多少钱
finance: finance stock market share ticker investment crypto bitcoin | 金融 股票 股市 基金 投资 加密货币 比特币 股价 |
payment: payment pay charge transaction checkout stripe paypal | 支付 付款 交易 收款 扣款 |
payment_link: payment_link checkout_link | 付款链接 收款链接 支付链接 |
invoice: invoice bill billing receipt | 发票 账单 收据 |
refund: refund chargeback dispute money_back | 退款 退钱 | wants_their_money_back
subscription: subscription plan recurring_payment membership | 订阅 套餐 会员 |
customer: customer client buyer | 客户 顾客 买家 |
product: product item goods catalog sku | 产品 商品 货品 |
price: price pricing cost rate | 价格 定价 报价 |
coupon: coupon discount promo voucher | 优惠券 折扣 优惠 |
balance: balance account funds credits credit | 余额 账户 额度 |
order: order purchase shipment | 订单 下单 |
inventory: inventory stock warehouse | 库存 仓储 |
shipping: shipping delivery package tracking courier | 物流 快递 配送 发货 包裹 |
cart: cart basket | 购物车 |
crm: crm lead deal opportunity salesforce hubspot | 客户关系 线索 商机 |
support_ticket: ticket helpdesk support zendesk | 客服 工单 |
marketing: marketing campaign advertisement ads newsletter | 营销 广告 推广 |
social: social_media tweet twitter post reddit facebook instagram | 社交 微博 推文 发帖 |
contract: contract agreement signature | 合同 协议 签名 |
tax: tax vat | 税 税务 |
expense: expense reimbursement spending | 报销 开支 花销 |
home: home smart_home light lamp thermostat device | 家居 灯 设备 |
game: game player score | 游戏 玩家 |
music: music song playlist artist album track spotify | 音乐 歌曲 歌单 专辑 |
book: book author reading | 书 图书 |
sport: sport match team league | 体育 比赛 球队 |
education: course lesson student school learn | 课程 学习 学生 学校 |
person: person human people name | 人 人物 |
company: company business firm corporation | 公司 企业 |
`
