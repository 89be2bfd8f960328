/** Lays out the page `/docs`. */
import { frameHtml } from '../call-page/html/shell.ts';

/** @param options `callPage`: whether this server has the pages of calls, to which the header leads */
export function docsPage({ callPage }: { readonly callPage: boolean }): string {
  return frameHtml({
    path: '/docs',
    title: 'API',
    styles: ['/docs/swagger-ui.css', '/docs/style.css'],
    scripts: `<script src="/docs/swagger-ui-bundle.js"></script>
    <script type="module" src="/docs/docs-page.js"></script>`,
    without: callPage ? [] : ['/call', '/calls'],
    body: `    <div id="docs"></div>
    <noscript><p>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</p></noscript>`,
  });
}
