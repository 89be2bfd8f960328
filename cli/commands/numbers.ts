import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { orgOption } from '../options.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

export function registerNumbers(program: Command): void {
  const numbers = program.command('numbers').description('list the phone numbers that organisations use or reserve, and end reservations');

  numbers
    .command('list')
    .description('list the numbers that organisations use or reserve, sorted by number')
    .addOption(orgOption('only numbers of this organisation'))
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley numbers list', 'parley numbers list --org acme -o yaml'))
    .action(async (options: { readonly org?: string } & OutputFlags) => {
      const [{ withStore }, { loadConfig }, { numberReservationMs }, { table }] = await Promise.all([
        import('../database.ts'),
        import('../../platform/config/config.ts'),
        import('../../platform/config/phone-numbers.ts'),
        import('../table.ts'),
      ]);
      const reservedMs = numberReservationMs(loadConfig(process.env));
      const all = await withStore((store) => store.numberClaims.list({ reservedMs, org: options.org }));
      const shown = all.map(({ number, org, reservedUntil, expired }) => ({
        number,
        organization: org,
        state: reservedUntil === undefined ? 'in use' : expired ? 'reservation over' : 'reserved',
        reserved_until: reservedUntil?.toISOString() ?? null,
      }));
      if (wantsData(options)) {
        await printData(options, shown);
        return;
      }
      const rows = shown.map((row) => [row.number, row.organization, row.state, row.reserved_until ?? '-']);
      process.stdout.write(table(['NUMBER', 'ORGANISATION', 'STATE', 'RESERVED UNTIL'], rows));
    });

  numbers
    .command('release')
    .description('end the reservation of a number, so that any organisation may use it; a number in use keeps its organisation')
    .argument('<number>', 'E.164, such as +12025550143')
    .addOption(outputOption('the number, and the organisation that it was reserved for'))
    .addHelpText('after', examples('parley numbers release +12025550143'))
    .action(async (number: string, options: OutputFlags) => {
      const [{ withStore }, { UserError }, { loadConfig }, { numberReservationMs }] = await Promise.all([
        import('../database.ts'),
        import('../../platform/user-error.ts'),
        import('../../platform/config/config.ts'),
        import('../../platform/config/phone-numbers.ts'),
      ]);
      const reservedMs = numberReservationMs(loadConfig(process.env));
      await withStore(async ({ numberClaims }) => {
        const org = await numberClaims.endReservation(number);
        if (org !== undefined) {
          if (wantsData(options)) await printData(options, { number, organization: org });
          else process.stdout.write(`${number} is no longer reserved for ${org}\n`);
          return;
        }
        const claim = await numberClaims.get(number, { reservedMs });
        throw claim === undefined
          ? new UserError(`${number} is not reserved`, { cure: 'see `parley numbers list`' })
          : new UserError(`${number} is in use by organisation ${claim.org}`, { cure: 'delete its PhoneNumber first' });
      });
    });
}
