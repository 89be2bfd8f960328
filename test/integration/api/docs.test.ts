/** Asks for `/docs` and `/openapi.json` as a browser does. */

import { describe, expect, it } from 'vitest';

import { version } from '../../../platform/version.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);

describe('/docs', () => {
  it('is a page whose parts all come from here, with and without a slash at the end', async () => {
    for (const path of ['/docs', '/docs/']) {
      const page = await facade.call('GET', path);
      expect(page.status).toBe(200);
      const parts = [...page.text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, address]) => address ?? '');
      expect(parts).toEqual([
        '/docs/swagger-ui.css',
        '/docs/style.css',
        '/docs',
        '/openapi.json',
        '/docs/swagger-ui-bundle.js',
        '/docs/docs-page.js',
      ]);
      expect(page.text).toContain(`>${version}<`);
      for (const part of parts) {
        expect((await facade.call('GET', part)).status, part).toBe(200);
      }
    }
  });

  it('forbids the browser everything from elsewhere', async () => {
    for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/docs/style.css', '/docs/docs-page.js']) {
      const { headers } = await facade.call('GET', path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/https?:|unsafe|\*/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    for (const path of ['/docs/swagger-ui.css', '/docs/style.css']) {
      const styles = await facade.call('GET', path);
      expect([...styles.text.matchAll(/url\((?!["']?data:)([^)]*)/g)].map(([, address]) => address)).toEqual([]);
      expect(styles.text).not.toContain('@import');
    }
  });

  it('serves the files of the page and no other', async () => {
    for (const name of ['index.html', 'package.json', '..%2fpackage.json', 'toString', '%2e%2e'])
      expect((await facade.call('GET', `/docs/${name}`)).status, name).toBe(404);
  });
});

describe('/openapi.json', () => {
  it('comes compressed where the client can read that, and once where it has not changed', async () => {
    const get = (headers: Record<string, string>) => fetch(`${facade.url}/openapi.json`, { headers });
    const [plain, zipped] = [await get({ 'accept-encoding': 'identity' }), await get({ 'accept-encoding': 'br, gzip' })];
    expect([plain.headers.get('content-encoding'), zipped.headers.get('content-encoding')]).toEqual([null, 'gzip']);
    expect(await zipped.text()).toBe(await plain.text());
    expect((await get({ 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding')).toBeNull();
    const etag = plain.headers.get('etag') ?? '';
    const again = await get({ 'if-none-match': `"other", ${etag}` });
    expect([again.status, await again.text(), zipped.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is the document of this facade, for everybody', async () => {
    const { body, headers } = await facade.call('GET', '/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, servers: [{ url: '/' }] });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });
});
