import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { kindCommands } from '../node/kind.ts';
import { repository } from './stack.ts';

it('the page about nodes has the commands for kind that the script prints', () => {
  const page = readFileSync(join(repository, 'docs/install/real-node.md'), 'utf8');
  expect(page).toContain(`\`\`\`sh\n${kindCommands({ tag: 'dev' })}\`\`\``);
});
