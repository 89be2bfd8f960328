import { execFileSync } from 'node:child_process';

import { expect, it } from 'vitest';

it('lines of the library have the form of ours, once in each call, and nothing of what was said', () => {
  const program = `
    import { JobContext, JobProcess, initializeLogger, log, runWithJobContext } from '@livekit/agents';
    import { logLibrary } from './voice/livekit-patches/library-log.ts';
    initializeLogger({ pretty: false });
    logLibrary({ level: 'info', once: true });
    const room = { isConnected: true, on() {} };
    const logger = log().child({ room: 'r' });
    const inCall = (id, work) => runWithJobContext(new JobContext(new JobProcess(), { job: { id } }, room), work);
    for (const id of ['AJ_1', 'AJ_2']) inCall(id, () => {
      for (let i = 0; i < 3; i += 1) logger.warn({ extra: i }, 'VAD inference is slower than realtime');
    });
    logger.warn('rotateSegment called while previous segment is still being rotated');
    for (const isConnected of [true, false]) inCall('AJ_3', () => {
      room.isConnected = isConnected;
      logger.error(new Error('no answer'), 'Failed to update agent state attributes');
    });
    logger.info('nothing');
    logger.warn({ 'lk.pii.user_input': 'my password is tree' }, 'skipping user input');
    logger.error({ error: new Error('boom') }, 'broken');
  `;
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', program], { encoding: 'utf8' });
  const common = { role: 'voice', library: '@livekit/agents', room: 'r', time: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect(
    output
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([
    { ...common, level: 'warn', jobId: 'AJ_1', extra: 0, msg: 'VAD inference is slower than realtime' },
    { ...common, level: 'warn', jobId: 'AJ_2', extra: 0, msg: 'VAD inference is slower than realtime' },
    {
      ...common,
      level: 'error',
      jobId: 'AJ_3',
      msg: 'Failed to update agent state attributes',
      err: expect.objectContaining({ message: 'no answer' }),
    },
    { ...common, level: 'warn', msg: 'skipping user input' },
    { ...common, level: 'error', msg: 'broken', err: expect.objectContaining({ type: 'Error', message: 'boom' }) },
  ]);
});
