/**
 * Records the moving picture of the README: `npm run record-call`, after `eval "$(bin/parley env)"` of a running local stack.
 * A browser without a window opens the page at `/call`, and a synthesised voice calls the example agent; the frames are what the page
 * showed. Pauses in which nothing changes are shortened to `LONGEST_PAUSE_MS`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import sharp from 'sharp';

import { openPage, type Page } from '../test/integration/cli-call/browser.ts';
import { pretendMicrophone, speak } from '../test/integration/cli-call/microphone.ts';
import { eventually } from '../test/support/eventually.ts';

const FILE = fileURLToPath(new URL('../docs/images/call.webp', import.meta.url));
const SAYINGS = ['What are your opening hours?', 'Where is my order 20417?', 'Thank you, goodbye.'];
/** From this width on the page has two columns; the README shows it at five sixths of its size. */
const WINDOW = { width: 960, height: 680 };
const FRAME_MS = 150;
const LONGEST_PAUSE_MS = 1_500;
const LAST_FRAME_MS = 5_000;

interface Frame {
  readonly png: Buffer;
  readonly at: number;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is unset: start the stack with \`make up\`, then run \`eval "$(bin/parley env)"\``);
  return value;
}

async function speechOf(text: string): Promise<Buffer> {
  const response = await fetch(`${setting('PARLEY_SPEECH_URL')}/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', voice: 'alloy', input: text, response_format: 'wav' }),
  });
  if (!response.ok) throw new Error(`PARLEY_SPEECH_URL answered ${response.status}: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Takes pictures until it is stopped, and keeps each that differs from the one before. */
function watch(page: Page): { stop(): Promise<readonly Frame[]> } {
  const frames: Frame[] = [];
  let isOver = false;
  const look = async (): Promise<void> => {
    const frame = { png: await page.screenshot('png'), at: performance.now() };
    if (frames.at(-1)?.png.equals(frame.png) !== true) frames.push(frame);
  };
  const done = (async () => {
    while (!isOver) {
      const next = performance.now() + FRAME_MS;
      await look();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
    }
    await look();
  })();
  return {
    async stop() {
      isOver = true;
      await done;
      return frames;
    },
  };
}

/** Holds the call, and waits for its analysis. */
async function talk(page: Page): Promise<void> {
  const check = (expression: string, expected: string): Promise<void> =>
    eventually(async () => {
      if (!(await page.run<boolean>(expression))) throw new Error(`the page doesn't show ${expected}`);
    });
  await page.run(`document.getElementById('start').click()`);
  for (const index of SAYINGS.keys()) {
    const answered = `document.querySelectorAll('#timeline > .agent:not(.interim)').length > ${index}`;
    await check(`${answered} && document.getElementById('status').textContent === 'The agent listens.'`, `answer ${index}`);
    await speak(page, index);
  }
  await check(`!document.getElementById('summary-part').hidden`, 'the end of the call');
  await check(`/resolved/i.test(document.getElementById('analysis').textContent)`, 'the analysis');
}

const folder = await mkdtemp(join(tmpdir(), 'parley-record-call-'));
const page = await openPage({ folder });
try {
  await pretendMicrophone(page, ...(await Promise.all(SAYINGS.map(speechOf))));
  await page.resize(WINDOW);
  await page.useScheme('light');
  await page.goTo(`${setting('PARLEY_CALL_URL')}&agent=receptionist`);
  await eventually(async () => {
    if (await page.run<boolean>(`document.getElementById('setup-part').hidden`)) throw new Error('the page offers no agents');
  });
  const watched = watch(page);
  await talk(page);
  const frames = await watched.stop();
  const delay = frames.map(({ at }, index) => Math.min(LONGEST_PAUSE_MS, Math.round((frames[index + 1]?.at ?? Infinity) - at)));
  delay[delay.length - 1] = LAST_FRAME_MS;
  const picture = await sharp(
    frames.map(({ png }) => png),
    { join: { animated: true } },
  )
    // Of flat colours and text, WebP without loss is smaller than with loss, and nothing of it is blurred.
    .webp({ delay, loop: 0, lossless: true, effort: 3 })
    .toBuffer();
  await writeFile(FILE, picture);
  const seconds = Math.round(delay.reduce((sum, each) => sum + each, 0) / 1_000);
  process.stdout.write(`${FILE}: ${frames.length} frames, ${seconds} s, ${Math.round(picture.length / 1_024)} KB\n`);
} finally {
  await page.close();
  await rm(folder, { recursive: true, force: true });
}
