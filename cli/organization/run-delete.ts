/** Asks a person who runs `parley org delete`: says what goes, asks whether that is meant, and shows how far it is. */
import { createInterface } from 'node:readline/promises';

import { databaseUrl, withStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { printData, wantsData, type OutputFlags } from '../output.ts';
import { table } from '../table.ts';
import { withOrganizationObjects } from '../transfer/cluster.ts';
import { deleteOrganization, takeInventory, type Inventory } from './delete.ts';

export interface DeleteFlags extends OutputFlags {
  readonly confirm?: string;
  readonly dryRun?: true;
  readonly force?: true;
  readonly deleteNamespace?: true;
}

/** @throws UserError for an organisation that isn't there, has live calls, or isn't confirmed */
export async function runDelete(org: string, flags: DeleteFlags): Promise<void> {
  await withStore((store) =>
    withOrganizationObjects(async (transport) => {
      const means = { org, databaseUrl: databaseUrl(), store, transport };
      const inventory = await takeInventory(means);
      if (isEmpty(inventory)) throw new UserError(`there is no organisation "${org}"`, { cure: 'parley org list' });
      if (!wantsData(flags)) process.stdout.write(describe(inventory));
      if (flags.dryRun === true) {
        if (wantsData(flags)) await printData(flags, dataOf(org, inventory, true));
        return;
      }
      if (inventory.liveCalls > 0 && flags.force !== true) {
        throw new UserError(`${inventory.liveCalls} calls of "${org}" are live`, {
          cure: `let them end (parley org limit ${org} --live-calls 0 lets no more begin), or add --force`,
        });
      }
      await confirm(org, flags.confirm);
      await deleteOrganization({
        ...means,
        inventory,
        deleteNamespace: flags.deleteNamespace === true,
        onProgress: (line) => process.stderr.write(`${line}\n`),
      });
      if (wantsData(flags)) {
        await printData(flags, dataOf(org, inventory, false));
        return;
      }
      const stays = inventory.namespace !== undefined && flags.deleteNamespace !== true;
      process.stdout.write(
        `organisation ${org} is removed${stays ? `; its namespace stays, without the label, with what is not Parley's: kubectl delete namespace ${org}` : ''}\n`,
      );
    }),
  );
}

const isEmpty = ({ tables, resources, files, namespace }: Inventory): boolean =>
  namespace === undefined && files === 0 && Object.keys(tables).length + Object.keys(resources).length === 0;

const dataOf = (name: string, { resources, tables, files, liveCalls }: Inventory, dryRun: boolean) => ({
  name,
  dry_run: dryRun,
  resources,
  rows: tables,
  files,
  live_calls: liveCalls,
});

function describe({ tables, resources, files }: Inventory): string {
  const rows = [
    ...Object.entries(resources).map(([kind, count]) => [kind, String(count)]),
    ...Object.entries(tables).map(([name, count]) => [`rows of ${name}`, String(count)]),
    ['files', String(files)],
  ];
  return table(['WHAT', 'COUNT'], rows);
}

async function confirm(org: string, given: string | undefined): Promise<void> {
  let answer = given;
  if (answer === undefined && process.stdin.isTTY) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    answer = await lines.question(`All of this goes for good. Type the name of the organisation to remove it: `);
    lines.close();
  }
  if (answer !== org)
    throw new UserError(`organisation "${org}" is not removed: its name was not confirmed`, { cure: `add --confirm ${org}` });
}
