import { expect, it, onTestFinished } from 'vitest';

import { addsAllButThree, addStage } from './kb-add-stage.ts';

it('adds 497 of 500 files, names the three bad ones, and doubles nothing when it is repeated', async () => {
  const stage = await addStage();
  onTestFinished(() => stage.close());
  expect(await addsAllButThree(stage, 500)).toHaveLength(499);
  // The limit was reached, and no request was refused for good.
  expect(stage.facade.log()).toContain('"status":429');
}, 1_200_000);
