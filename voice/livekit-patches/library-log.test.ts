import { execFileSync } from 'node:child_process';

import { expect, it } from 'vitest';

it('lines of the library have the form of ours, the job of their call, and nothing of what was said', () => {
  const program = `
    import { JobContext, JobProcess, initializeLogger, log, runWithJobContext } from '@livekit/agents';
    import { logLibrary } from './voice/livekit-patches/library-log.ts';
    initializeLogger({ pretty: false });
    logLibrary({ level: 'info' });
    const room = { isConnected: true, on() {} };
    const logger = log().child({ room: 'r' });
    const inCall = (id, work) => runWithJobContext(new JobContext(new JobProcess(), { job: { id } }, room), work);
    inCall('AJ_1', () => logger.warn({ extra: 1 }, 'the room is slow'));
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
    { ...common, level: 'warn', jobId: 'AJ_1', extra: 1, msg: 'the room is slow' },
    { ...common, level: 'warn', msg: 'skipping user input' },
    { ...common, level: 'error', msg: 'broken', err: expect.objectContaining({ type: 'Error', message: 'boom' }) },
  ]);
});
