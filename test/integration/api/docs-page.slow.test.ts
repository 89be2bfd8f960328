/** Reads and tries the API on `/docs` in a real browser, which reaches nothing but the facade. */
import { expect, it } from 'vitest';

import { version } from '../../../platform/version.ts';
import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openPage } from '../cli-call/browser.ts';
import { checkAccess, SIZES } from '../cli-call/page-checks.ts';
import { kubectl, organization, startFacade } from './facade.ts';

const facade = suiteFixture(() => startFacade({ calls: { page: true } }));
const folder = suiteFolder();
const browser = suiteFixture(() => openPage({ folder }));

/** Sets a field as a person does: React reads the value of its own event only. */
const typeInto = (selector: string, text: string): string => `(() => {
  const field = document.querySelector(${JSON.stringify(selector)});
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, ${JSON.stringify(text)});
  field.dispatchEvent(new Event('input', { bubbles: true }));
})()`;

it('shows every operation and tries one with a key, for everybody and from this server alone', async () => {
  const org = await organization(facade);
  await kubectl(['apply', '-f', '-'], anAgent('receptionist', org.name, { displayName: 'Harbour Bikes' }));
  const click = (selector: string): Promise<void> => browser.run(`document.querySelector(${JSON.stringify(selector)}).click()`);
  const shown = (selector: string): Promise<string> =>
    browser.run(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ innerText }) => innerText).join('\\n')`);
  const eventuallyShown = (selector: string, words: string): Promise<void> =>
    eventually(async () => expect(await shown(selector)).toContain(words));

  await browser.resize(SIZES.desk);
  await browser.goTo(`${facade.url}/docs`);
  await eventuallyShown('.opblock-summary', '/v1/api-keys/{key_id}/revoke');
  expect(await shown('.opblock-summary')).toContain('Make an agent');
  expect(await shown('header')).toMatch(new RegExp(`Talk\\s+Calls\\s+API\\s+${version}`));
  await checkAccess(browser);

  await click('.btn.authorize');
  await eventuallyShown('.modal-ux', 'Value');
  await checkAccess(browser);
  await browser.run(typeInto('.modal-ux input', org.key));
  await click('.modal-ux button[type=submit]');
  await eventuallyShown('.modal-ux', 'Logout');
  await click('.modal-ux .btn-done');

  for (const operation of ['AI_agents-listAgents', 'AI_agents-createAgent', 'AI_agents-deleteAgent'])
    await click(`#operations-${operation} .opblock-summary-control`);
  await eventuallyShown('#operations-AI_agents-listAgents', 'Execute');
  await click('#operations-AI_agents-listAgents .execute');
  await eventuallyShown('#operations-AI_agents-listAgents .live-responses-table', 'Harbour Bikes');
  await checkAccess(browser);
  expect(await browser.run('location.hash')).toContain('deleteAgent');

  await click('.models-control');
  await eventuallyShown('.models', 'Agent');
  await checkAccess(browser);

  expect(browser.complaints).toEqual([]);
  const hosts = browser.requested.map((url) => new URL(url)).filter(({ protocol }) => protocol !== 'data:');
  expect([...new Set(hosts.map(({ origin }) => origin))]).toEqual([facade.url]);
});
