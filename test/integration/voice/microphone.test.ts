/** The agent hears the user's last microphone. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

it('hears a user on the microphone that they have published last', async () => {
  const call = await stage.joined();
  await call.becomes({ status: 'ongoing' });
  for (const text of ['hello', 'and here I am again', 'and once more']) {
    await call.says(text);
    await call.caller.hears(`I heard: ${text}`);
    await call.caller.publish();
  }
  await eventually(async () =>
    expect((await call.messages()).filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'hello',
      'and here I am again',
      'and once more',
    ]),
  );
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
});
