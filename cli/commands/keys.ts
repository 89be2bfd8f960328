import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

import { apiKeyToRest } from '../../api/api-keys/codec.ts';
import type { ListedApiKey } from '../../store/index.ts';
import { orgOption, wholeNumber } from '../options.ts';

export function registerKeys(program: Command): void {
  const keys = program.command('keys').description('create, list and revoke API keys of an organisation');
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
}

function addCreate(keys: Command): void {
  keys
    .command('create')
    .description('create an API key and print it once, alone on standard output')
    .addOption(orgOption())
    .requiredOption('--name <text>', 'purpose of the key, 1 to 100 characters')
    .option('--permissions <list>', 'comma-separated, e.g. agents:write,calls:read; * is everything', words, ['*'])
    .option('--expires-in-days <days>', '1 to 365', wholeNumber(1, 365), 30)
    .option('--user <id>', 'user that the key acts for: everything created with it records this user')
    .addOption(outputOption('all data, the key under "api_key"'))
    .addOption(jsonOption())
    .addHelpText('after', examples('parley keys create --org acme --name ci --permissions agents:write,calls:read --expires-in-days 90'))
    .action(
      async (
        options: {
          readonly org?: string;
          readonly name: string;
          readonly permissions: readonly string[];
          readonly expiresInDays: number;
          readonly user?: string;
        } & OutputFlags,
      ) => {
        const [{ organizationNamed }, { withStore }, { UserError }, { isPermission, permissions }] = await Promise.all([
          import('../organization/named.ts'),
          import('../database.ts'),
          import('../../platform/user-error.ts'),
          import('../../store/index.ts'),
        ]);
        const org = organizationNamed(options.org, process.env);
        const wanted = options.permissions.map((word) => {
          if (isPermission(word)) return word;
          throw new UserError(`there is no permission ${JSON.stringify(word)}`, { cure: `use some of ${permissions.join(', ')}` });
        });
        const { record, apiKey } = await withStore((store) =>
          store.apiKeys.create({
            org,
            name: options.name,
            permissions: wanted,
            expirationDays: options.expiresInDays,
            userId: options.user,
          }),
        );
        if (wantsData(options)) {
          await printData(options, { ...apiKeyToRest(record), api_key: apiKey });
          return;
        }
        process.stdout.write(`${apiKey}\n`);
        process.stderr.write(
          `${record.keyId}, valid until ${record.expirationDate.toISOString()}, for ${record.permissions.join(', ')}. It is not shown again.\n`,
        );
      },
    );
}

function addList(keys: Command): void {
  keys
    .command('list')
    .description('list the API keys of an organisation, newest first')
    .addOption(orgOption())
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley keys list --org acme'))
    .action(async (options: { readonly org?: string } & OutputFlags) => {
      const [{ organizationNamed }, { withStore }, { table }] = await Promise.all([
        import('../organization/named.ts'),
        import('../database.ts'),
        import('../table.ts'),
      ]);
      const org = organizationNamed(options.org, process.env);
      const all = await withStore(async ({ apiKeys }) => {
        const found: ListedApiKey[] = [];
        let page = await apiKeys.list({ org, pageSize: 100 });
        found.push(...page.items);
        while (page.next !== undefined) {
          page = await apiKeys.list({ org, pageSize: 100, after: page.next });
          found.push(...page.items);
        }
        return found;
      });
      if (wantsData(options)) {
        await printData(options, all.map(apiKeyToRest));
        return;
      }
      process.stdout.write(
        table(
          ['KEY ID', 'NAME', 'ENDS IN', 'STATE', 'EXPIRES', 'USER', 'MADE BY', 'PERMISSIONS'],
          all.map((key) => [
            key.keyId,
            key.name,
            key.lastFour,
            keyState(key, Date.now()),
            key.expirationDate.toISOString(),
            key.userId ?? '',
            key.createdByKey ?? '',
            key.permissions.join(','),
          ]),
        ),
      );
    });
}

function addRevoke(keys: Command): void {
  keys
    .command('revoke')
    .description('revoke an API key for good; every process refuses it within 5 s')
    .argument('<id>', 'key_…')
    .addOption(orgOption())
    .option('--descendants', 'also the keys that it has made, directly or through others')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley keys revoke key_019aa1f2b3c47d5e8f90a1b2c3d4e5f6 --org acme'))
    .action(async (keyId: string, options: { readonly org?: string; readonly descendants?: true } & OutputFlags) => {
      const [{ organizationNamed }, { withStore }, { UserError }] = await Promise.all([
        import('../organization/named.ts'),
        import('../database.ts'),
        import('../../platform/user-error.ts'),
      ]);
      const org = organizationNamed(options.org, process.env);
      const revoked = await withStore(async ({ apiKeys }) => {
        if (options.descendants === true) return apiKeys.revokeWithDescendants({ org, keyId });
        const record = await apiKeys.revoke({ org, keyId });
        return record && { record, descendants: undefined };
      });
      if (revoked === undefined) {
        throw new UserError(`organisation "${org}" has no API key ${JSON.stringify(keyId)}`, {
          cure: `parley keys list --org ${org}`,
        });
      }
      const { record, descendants } = revoked;
      if (wantsData(options))
        await printData(options, { ...apiKeyToRest(record), ...(descendants !== undefined && { revoked_descendants: descendants }) });
      else
        process.stdout.write(
          `${keyId} (${record.name}) is revoked${descendants === undefined ? '' : `, and ${descendants} that it had made`}\n`,
        );
    });
}

function keyState(record: ListedApiKey, now: number): string {
  if (record.revoked) return 'revoked';
  return record.expirationDate.getTime() <= now ? 'expired' : 'active';
}

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
