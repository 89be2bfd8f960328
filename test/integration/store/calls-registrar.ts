/** Registers calls until it is killed: `node calls-registrar.ts <database> <organisation>`. */
import { openStore } from '../../../store/index.ts';
import { aCall } from './calls-support.ts';

const [databaseUrl = '', org = ''] = process.argv.slice(2);
const store = openStore({ databaseUrl, poolSize: 4 });
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (;;) await store.calls.calls.register(aCall(org));
  }),
);
