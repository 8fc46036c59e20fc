/** Owns the concepts of pictures, drawing, design, sound and models. The format is in concepts.ts. */

export const MEDIA = `
image: image picture photo photograph img graphic illustration png jpeg jpg | 图片 图像 照片 图 相片 插图 画 | logo cat_picture
image_generation: generate_image text_to_image image_generation artwork art paint | 生成图片 画图 文生图 作画 画一张 画一幅 生成一张 来张图 | picture_of drawing_of 画一只 in_the_style_of
image_edit: edit_image crop filter retouch | 修图 裁剪 抠图 |
thumbnail: thumbnail preview icon | 缩略图 图标 |
logo: logo brand icon | 标志 商标 |
icon: icon glyph symbol | 图标 |
audio: audio sound voice speech music podcast | 音频 声音 语音 录音 |
text_to_speech: text_to_speech tts speak voice narration read_aloud | 语音合成 朗读 念出来 配音 |
speech_to_text: speech_to_text transcribe transcription subtitles captions dictate | 语音转文字 转写 字幕 听写 |
transcript: transcript captions subtitles | 字幕 文字稿 逐字稿 |
video_media: video clip movie film recording footage | 视频 影片 录像 |
animation: animation animated gif | 动画 动图 |
diagram: diagram drawing sketch flowchart whiteboard excalidraw architecture schema | 图 图表 示意图 流程图 白板 架构图 草图 画在白板 | boxes arrows
mermaid: mermaid diagram_code graphviz | |
canvas: canvas board scene whiteboard drawing_area | 画布 白板 画板 场景 白板上 | drawing
shape: shape rectangle ellipse circle arrow diamond element line box | 形状 矩形 圆形 圆 箭头 方框 方块 元素 图形 框 方框 框 | boxes arrow_from box_called
element_drawing: element elements object shape item | 元素 图形 对象 |
layer: layer z_index front behind | 图层 |
theme: theme style color_scheme dark light | 主题 风格 样式 深色 暗色 |
font: font typeface typography | 字体 |
color_design: color colour palette fill stroke | 颜色 配色 |
alignment: align alignment left right center | 对齐 居中 | straight_line line_up
grouping: group ungroup | 分组 组合 |
export_image: export_image png svg save_as_image | 导出图片 导出为图片 |
share_drawing: share shareable_link collaborate excalidraw_url | 分享 |
design: design figma mockup prototype layout ui | 设计 原型 设计稿 界面 排版 |
component: component widget ui_component | 组件 |
style_guide: guide guidelines best_practices reference cheat_sheet | 指南 规范 最佳实践 |
photo_edit: crop resize rotate | 裁剪 旋转 |
ocr: ocr recognize_text text_recognition | 文字识别 |
vision: vision recognize detect object_detection face | 识别 检测 视觉 |
model: model llm ai gpt claude language_model | 模型 大模型 人工智能 |
sampling: sampling llm_request completion ask_model | 采样 | ask_the_model
embedding: embedding vector | 向量 嵌入 |
prompt_text: prompt instruction | 提示词 |
three_d: 3d three mesh render scene | 三维 立体 |
map_image: map_image static_map | 地图图片 |
screenshot_image: screenshot capture | 截图 |
qr: qr qrcode barcode | 二维码 条码 |
slides: slides presentation deck | 幻灯片 演示 |
annotation: annotation annotate priority audience | 注释 标注 |
tiny: tiny small little | 小 |
greeting: greeting hello hi | 问候 打招呼 你好 |
ip_address: ip_address ip subnet cidr | 网段 |
user_agent: user_agent | |
cron_expression: cron_expression cron | |
case: case camel_case snake_case kebab_case uppercase lowercase | 大小写 大写 小写 驼峰 |
text_stats: character_count word_count text_statistics | 字数 字数统计 |
semver: semver semantic_version | 语义化版本 |
`
