/** Verifies deliveries as they arrive with the libraries that receivers in Python use. */
import { describe, expect, it } from 'vitest';

import { testPython } from '../../support/programs.ts';
import { run } from '../../support/run.ts';
import { signedDeliveries } from './signed-deliveries.ts';

const { deliveries } = signedDeliveries();
const versions = { standardwebhooks: '1.1.0', svix: '2.9.1' } as const;
const program = `
import base64, json, sys
import standardwebhooks, svix.webhooks
def accepts(verify):
    try:
        verify()
        return True
    except (standardwebhooks.WebhookVerificationError, svix.webhooks.WebhookVerificationError):
        return False
answers = []
for row in json.load(sys.stdin):
    body = base64.b64decode(row["body"])
    answers.append([
        accepts(lambda: standardwebhooks.Webhook(row["key"]).verify(body, row["headers"])),
        accepts(lambda: svix.webhooks.Webhook(row["key"]).verify(body, row["headers"])),
    ])
print(json.dumps(answers))
`;

describe('verified with the libraries from PyPI', () => {
  it('standardwebhooks and svix accept what is signed with their key, and nothing else', async () => {
    const interpreter = await testPython({
      name: 'webhook-libraries',
      requirements: [`standardwebhooks==${versions.standardwebhooks}`, `svix==${versions.svix}`],
    });
    const rows = await deliveries();
    const input = JSON.stringify(rows.map(({ delivery, key }) => ({ ...delivery, body: delivery.body.toString('base64'), key })));
    const { code, stdout, stderr } = await run(interpreter, ['-c', program], { input });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual(rows.map(({ valid }) => [valid, valid]));
  });
});
