/** The style of `/docs` where it differs from Swagger UI's own. */
import { FRAME_STYLE } from '../call-page/html/style.ts';

/** Swagger UI's light scheme has colours that are too pale to read; in its dark one few are. */
export const DOCS_STYLE = `${FRAME_STYLE}
html.dark-mode, html.dark-mode .swagger-ui { background: var(--ground); }
.swagger-ui .wrapper { max-width: var(--width); padding: 0 1rem; }
@media (min-width: 60rem) { .swagger-ui .wrapper { padding: 0 1.5rem; } }
.swagger-ui, .swagger-ui :is(.info .title, .opblock-tag, .btn, h4, label, select, table thead tr th) { font-family: inherit; }
.swagger-ui .info { margin: 1.5rem 0; }
.swagger-ui .info .title { font-size: 1.375rem; }
.swagger-ui .info .title small.interface-version, html.dark-mode .swagger-ui .info .title small.interface-version { background: none; color: var(--quiet); padding: 0; margin-left: 0.75rem; position: static; font-size: 0.8125rem; }
.swagger-ui :is(.url, .link, .info a, .markdown a, .renderedMarkdown a) { color: var(--accent); }
html .swagger-ui :is(.markdown, .renderedMarkdown) code, html.dark-mode .swagger-ui :is(.markdown, .renderedMarkdown) code {
  background: var(--soft); color: var(--ink); font-weight: 400;
}
html:not(.dark-mode) .swagger-ui .authorize { color: var(--good); border-color: var(--good); }
html:not(.dark-mode) .swagger-ui .authorize svg { fill: var(--good); }
html:not(.dark-mode) .swagger-ui .opblock .opblock-summary-method { text-shadow: none; }
html:not(.dark-mode) .swagger-ui .opblock.opblock-get .opblock-summary-method { background: var(--accent); }
html:not(.dark-mode) .swagger-ui .opblock.opblock-post .opblock-summary-method { background: var(--good); }
html:not(.dark-mode) .swagger-ui .opblock.opblock-put .opblock-summary-method { background: var(--tts); }
html:not(.dark-mode) .swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0f6b63; }
html:not(.dark-mode) .swagger-ui .opblock.opblock-delete .opblock-summary-method { background: var(--bad); }
.swagger-ui :is(.parameter__in, .parameter__type, .prop-format, i) { color: var(--quiet); }
html:not(.dark-mode) .swagger-ui :is(.response-control-media-type__accept-message, .response-control-media-type__accept-message code) { color: #0a5c1f; }
.swagger-ui table.headers .header-example { color: var(--quiet); }
.swagger-ui :is(.response-col_links i, .examples-select__section-label, table.headers td, .json-schema-2020-12-expand-deep-button) { color: var(--ink); }
.swagger-ui .json-schema-2020-12__constraint--string { background: #7a5200; color: #ffffff; }
.swagger-ui pre.microlight span { color: #ebebeb !important; }
html .swagger-ui .opblock .opblock-section-header .btn.try-out__btn.cancel { color: var(--bad); border-color: currentColor; }
.swagger-ui .btn.execute { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.swagger-ui .download-contents { background: #4d5363; color: #ffffff; }
`;
