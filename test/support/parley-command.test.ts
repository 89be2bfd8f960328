import { expect, it } from 'vitest';

import { parleyHere } from './parley-command.ts';

it('leaves no listener behind, of which Node warns in the output of the eleventh command', async () => {
  for (let index = 0; index < 12; index += 1) {
    const { stderr } = await parleyHere(['test', '/nonexistent'], {});
    expect(stderr).toBe("parley: /nonexistent can't be read: there is no such file or folder\n");
  }
});
