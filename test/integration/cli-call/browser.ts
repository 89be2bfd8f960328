/** Steers a browser without a window by the protocol of its developer tools. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { testBinary } from '../../support/programs.ts';

const KEY_CODES = { Tab: 9, Enter: 13, ArrowRight: 39 } as const;

export interface Page {
  /** Evaluates an expression, awaits it, and returns the result. @throws Error with the page's own error */
  run<T>(expression: string): Promise<T>;
  goTo(url: string): Promise<void>;
  /** Messages of the console and refused requests, those by the page's policy included. */
  readonly complaints: readonly string[];
  /** Addresses that the page has asked for. */
  readonly requested: readonly string[];
  resize(size: { readonly width: number; readonly height: number }): Promise<void>;
  /** Runs a script before any script of the pages that are opened from now on. */
  runFirst(script: string): Promise<void>;
  useScheme(scheme: 'light' | 'dark'): Promise<void>;
  /** Presses a key, as a person does: it moves the focus, or activates the element that has it. */
  press(key: keyof typeof KEY_CODES): Promise<void>;
  /** Takes a picture of the window; PNG loses nothing. */
  screenshot(format?: 'webp' | 'png'): Promise<Buffer>;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Evaluated {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
}

/**
 * @param options.folder the folder for the browser's profile
 * @param options.loopbackMedia whether sound leaves by the loopback interface, too, which a person's browser leaves alone
 */
export async function openPage({
  folder,
  loopbackMedia = true,
}: {
  readonly folder: string;
  readonly loopbackMedia?: boolean;
}): Promise<Page> {
  const child = spawn(
    await testBinary('chromium'),
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--remote-debugging-port=0',
      `--user-data-dir=${join(folder, 'browser')}`,
      '--window-size=390,844',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
      ...(loopbackMedia ? ['--allow-loopback-in-peer-connection'] : []),
      '--disable-features=WebRtcHideLocalIpsWithMdns',
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const port = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', () => {
      const [, found] = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the browser has ended: ${said}`)));
  });
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as readonly {
    readonly type: string;
    readonly webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets.find(({ type }) => type === 'page')!.webSocketDebuggerUrl);
  await once(socket, 'open');
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const [complaints, requested]: [string[], string[]] = [[], []];
  let loaded = Promise.withResolvers<void>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(data as string) as Message;
    if (method === 'Page.loadEventFired') loaded.resolve();
    if (method === 'Network.requestWillBeSent') requested.push((params as { request: { url: string } }).request.url);
    if (method === 'Network.webSocketCreated') requested.push((params as { url: string }).url);
    if (method === 'Log.entryAdded') complaints.push((params as { entry: { text: string } }).entry.text);
    if (method === 'Runtime.consoleAPICalled') complaints.push(JSON.stringify(params));
    if (method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(params));
    const waiter = waiting.get(id ?? 0);
    if (error === undefined) waiter?.resolve(result);
    else waiter?.reject(new Error(error.message));
  });
  const send = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  return {
    complaints,
    requested,
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the shape it then checks
    async run<T>(expression: string) {
      const evaluated = (await send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
        userGesture: true,
      })) as Evaluated;
      const { exceptionDetails } = evaluated;
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return evaluated.result.value as T;
    },
    async goTo(url) {
      loaded = Promise.withResolvers<void>();
      await send('Page.navigate', { url });
      await loaded.promise;
    },
    async resize(size) {
      await send('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });
    },
    async runFirst(source) {
      await send('Page.addScriptToEvaluateOnNewDocument', { source });
    },
    async useScheme(scheme) {
      await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    },
    async press(key) {
      const event = { key, code: key, windowsVirtualKeyCode: KEY_CODES[key], ...(key === 'Enter' && { text: '\r' }) };
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    async screenshot(format = 'webp') {
      const { data } = (await send('Page.captureScreenshot', { format, ...(format === 'webp' && { quality: 85 }) })) as {
        readonly data: string;
      };
      return Buffer.from(data, 'base64');
    },
    async close() {
      socket.close();
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
