import { execFileSync } from 'node:child_process';

import { expect, it } from 'vitest';

it('lines of the library have the form of ours, and nothing of what was said', () => {
  const program = `
    import { log } from '@livekit/agents';
    import { logLibrary } from './voice/livekit-patches/library-log.ts';
    logLibrary({ level: 'info', fields: { jobId: 'AJ_1' }, once: true });
    const logger = log().child({ room: 'r' });
    for (let i = 0; i < 3; i += 1) logger.warn({ extra: i }, 'VAD inference is slower than realtime');
    logger.warn('rotateSegment called while previous segment is still being rotated');
    logger.info('nothing');
    logger.warn({ 'lk.pii.user_input': 'my password is tree' }, 'skipping user input');
    logger.error({ error: new Error('boom') }, 'broken');
  `;
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', program], { encoding: 'utf8' });
  const common = { role: 'voice', library: '@livekit/agents', jobId: 'AJ_1', room: 'r', time: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect(
    output
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([
    { ...common, level: 'warn', extra: 0, msg: 'VAD inference is slower than realtime' },
    { ...common, level: 'warn', msg: 'skipping user input' },
    { ...common, level: 'error', msg: 'broken', err: expect.objectContaining({ type: 'Error', message: 'boom' }) },
  ]);
});
