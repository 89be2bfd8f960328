import { expect, it, onTestFinished } from 'vitest';

import { addsAllButThree, addStage } from './kb-add-stage.ts';

/** The default is small, because 500 take minutes of ingestion on two cores. */
const files = Number(process.env['PARLEY_TEST_FILES'] ?? 150);

it(`adds ${files - 3} of ${files} files, names the three bad ones, and doubles nothing when it is repeated`, async () => {
  const stage = await addStage();
  onTestFinished(() => stage.close());
  expect(await addsAllButThree(stage, files)).toHaveLength(files - 1);
  // A hundred files share a request: the limit of 40 a second is not reached.
  expect(stage.facade.log()).not.toContain('"status":429');
}, 1_200_000);
