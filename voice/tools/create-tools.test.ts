import { beforeEach, describe, expect, it } from 'vitest';

import { OAuthTokens } from '../../calls/mcp-client/oauth-tokens.ts';
import { ProviderKeyError } from '../../calls/provider-access/index.ts';
import type { RevisionTool } from '../../crds/agent-revision.ts';
import { builtinFunctionNames, callFunctionNames } from '../../crds/index.ts';
import { selectTools } from '../../crds/mcp-tools.ts';
import { SearchUnavailableError, type Search, type SearchHit, type SearchRequest } from '../../knowledge/search/search.ts';
import { systemClock } from '../../platform/clock.ts';
import { openEgress } from '../../test/support/open-egress.ts';
import { createLogger } from '../../platform/logging.ts';
import type { Calendar } from './calendar/calendar.ts';
import { createTools, functionNamesOf, type CreateToolsOptions } from './create-tools.ts';
import { runCall } from './run-call.ts';
import { MailError, type Mail, type Mailer } from './mail/mailer.ts';
import { RecordingHost } from '../../test/support/recording-tool-host.ts';
import { ToolMocks } from './tool-mocks.ts';

let host: RecordingHost;
let mails: Mail[];
beforeEach(() => {
  host = new RecordingHost();
  mails = [];
});

const mailer: Mailer = { send: async (mail) => void mails.push(mail) };
const calendar: Calendar = { slots: async () => [], book: () => Promise.reject(new Error('not asked for')) };

function aTool(functionName: string, spec: RevisionTool['spec']): RevisionTool {
  return { name: `tool-${functionName}`, functionName, spec };
}

const custom = (name: string, url = 'https://a.example') =>
  aTool(name, { type: 'Custom', custom: { function: { name }, http: { url, method: 'GET', timeout: '20s' } } });

function toolsFor(tools: readonly RevisionTool[], more: Partial<CreateToolsOptions> = {}) {
  const { over = new AbortController().signal, clock = systemClock } = more;
  const options: CreateToolsOptions = {
    org: 'acme',
    agent: { tools, knowledgeBase: null },
    data: { name: 'Ada', desk: '+15550100' },
    host,
    egress: openEgress(),
    keys: { read: async (org, { name, key }) => `${org}/${name}/${key}` },
    search: { search: async () => [] },
    mailer,
    calendar,
    tokens: new OAuthTokens({ clock: systemClock }),
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
    over,
    stop: over,
    ...more,
  };
  const made = createTools(options);
  const byName = new Map(made.map((tool) => [tool.name, tool]));
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<unknown> => {
    const tool = byName.get(name);
    if (tool === undefined) throw new Error(`no ${name}`);
    const interrupted = new AbortController().signal;
    return (await runCall(tool, { callId: 'c', args, interrupted }, { ...options, signal: options.stop })).result.forModel;
  };
  return { made, call, names: made.map(({ name }) => name) };
}

describe('the tools of a call', () => {
  it('press and collect digits in phone calls only', async () => {
    const pressed: string[] = [];
    const keypad = { collect: async () => '1234', press: async (keys: string) => void pressed.push(keys) };
    const { names, call } = toolsFor([], { keypad });
    expect(names).toEqual(['collect_digits', 'send_digits', 'end_call']);
    expect(await call('collect_digits', { count: 4 })).toEqual({ digits: '1234' });
    await call('send_digits', { digits: '1w#' });
    expect(await call('send_digits', { digits: '1; rm' })).toMatchObject({ error: expect.stringContaining('pattern') });
    expect(pressed).toEqual(['1w#']);
    expect(await toolsFor([], { keypad: { ...keypad, collect: async () => '' } }).call('collect_digits')).toMatchObject({
      error: 'The user has pressed no key.',
    });
  });

  it('are those of the agent, and end_call always', () => {
    expect(toolsFor([]).names).toEqual(['end_call']);
    expect(toolsFor([custom('find'), custom('book')]).names).toEqual(['find', 'book', 'end_call']);
  });

  it('keep the name that the owner gave them, where a built-in has the same', () => {
    const search: Pick<Search, 'search'> = { search: async () => [] };
    const { names } = toolsFor([custom('end_call'), custom('search_knowledge_base')], {
      search,
      agent: { tools: [custom('end_call'), custom('search_knowledge_base')], knowledgeBase: 'faq' },
    });
    expect(names).toEqual(['end_call', 'search_knowledge_base', 'search_knowledge_base_2', 'end_call_2']);
  });

  it('of MCP servers have names that every model provider takes, each once', () => {
    const long = 'x'.repeat(64);
    const ofServer = (name: string): RevisionTool => ({
      ...aTool('', { type: 'MCP', mcp: { url: `https://${name}.example/mcp`, timeout: '20s' } }),
      mcp: selectTools({}, [{ name: long, description: '', parameters: { type: 'object' }, readOnly: false }]),
    });
    const servers = [ofServer('shop'), ofServer('desk')];
    const unique = [long, `${'x'.repeat(62)}_2`, 'end_call'];
    expect(toolsFor(servers, { mocks: new ToolMocks({ mocks: [], clock: systemClock }) }).names).toEqual(unique);
    expect(functionNamesOf({ tools: servers, knowledgeBase: null }, { keypad: false })).toEqual(unique);
  });

  it('of MCP servers never have the name of a built-in, whether the agent has that or not', () => {
    const builtins = [...Object.values(builtinFunctionNames), ...callFunctionNames];
    const server: RevisionTool = {
      ...aTool('', { type: 'MCP', mcp: { url: 'https://shop.example/mcp', timeout: '20s' } }),
      mcp: selectTools(
        {},
        [...builtins, 'end.call'].map((name) => ({ name, description: '', parameters: { type: 'object' }, readOnly: false })),
      ),
    };
    const own = functionNamesOf({ tools: [], knowledgeBase: 'faq' }, { keypad: true });
    expect(own.toSorted()).toEqual(callFunctionNames.toSorted());
    const names = functionNamesOf({ tools: [server], knowledgeBase: 'faq' }, { keypad: true });
    expect(names.slice(-own.length)).toEqual(own);
    expect(names.filter((name) => (builtins as readonly string[]).includes(name))).toEqual(own);
    expect(names).toContain('transfer_call_2');
  });

  it('are described by the owner, with the data of the call, once', () => {
    const described = (spec: Partial<RevisionTool['spec']>) =>
      toolsFor([{ ...custom('find'), spec: { ...custom('find').spec, ...spec } }], { data: { name: '{{desk}}', desk: 'x' } });
    expect(described({ description: 'For {{name}}.' }).made[0]?.description).toBe('For {{desk}}.');
  });
});

describe('end_call', () => {
  it('hangs up, whatever comes along, and the model is not asked again', async () => {
    expect(await toolsFor([]).call('end_call', { reason: 'bye' })).toBeUndefined();
    expect(host.ended).toBe(1);
  });
});

describe('transfer_call', () => {
  const spec = {
    type: 'TransferCall',
    transferCall: { to: '{{desk}}', mode: 'Warm', callerID: 'Caller' },
    messages: { start: 'I connect you, {{name}}.', failed: 'Nobody is there.' },
  } as const;

  it('hands the call over to whom the owner says', async () => {
    expect(await toolsFor([aTool('transfer_call', spec)]).call('transfer_call', { to: '+1900' })).toBeUndefined();
    expect([host.transfers, host.said]).toEqual([[{ to: '+15550100', mode: 'Warm', callerID: 'Caller' }], ['I connect you, Ada.']]);
  });

  it('gives the model the reason of a failure', async () => {
    host.transferOutcome = { outcome: 'failed', message: 'This is a web call.' };
    expect(await toolsFor([aTool('transfer_call', spec)]).call('transfer_call')).toEqual({ error: 'This is a web call.' });
    expect(host.said).toEqual(['I connect you, Ada.', 'Nobody is there.']);
  });
});

describe('send_email', () => {
  const spec = {
    type: 'SendEmail' as const,
    sendEmail: { from: 'desk@hotel.example', passwordSecretRef: { name: 's', key: 'k' } },
    description: 'Writes to {{name}}.',
  };
  const mail = { to: 'ada@guest.example', subject: 'Your\nroom', body: 'It is ready.' };

  it('sends what the model wrote, as the owner', async () => {
    const { call, made } = toolsFor([aTool('send_email', spec)]);
    expect(await call('send_email', mail)).toEqual({ sent: true, to: 'ada@guest.example' });
    expect(mails).toEqual([
      { from: 'desk@hotel.example', password: 'acme/s/k', to: 'ada@guest.example', subject: 'Your room', text: 'It is ready.' },
    ]);
    expect(made[0]?.description).toBe('Writes to Ada.');
  });

  it.each(['a@x.example, b@x.example', 'a@x.example b@x.example', 'Ada <a@x.example>', 'nobody', 'a@x.example\r\nBcc: b@x.example'])(
    'sends no mail to %j',
    async (to) => {
      expect(await toolsFor([aTool('send_email', spec)]).call('send_email', { ...mail, to })).toMatchObject({
        error: expect.stringContaining('to must match'),
      });
      expect(mails).toEqual([]);
    },
  );

  it('explains to the model why a mail was not sent, without the server', async () => {
    const refusing: Mailer = {
      send: () => Promise.reject(new MailError('refused', 'mail.example does not take the password of desk@hotel.example (535)')),
    };
    expect(await toolsFor([aTool('send_email', spec)], { mailer: refusing }).call('send_email', mail)).toEqual({
      error: 'The mail was not sent: sending mail is not set up correctly.',
    });
  });

  it('keeps the model from sending a mail again that may have been sent', async () => {
    const silent: Mailer = { send: () => Promise.reject(new MailError('unknown', 'mail.example did not answer')) };
    expect(await toolsFor([aTool('send_email', spec)], { mailer: silent }).call('send_email', mail)).toEqual({
      error: 'It is not known whether the mail was sent: the mail server did not answer. Do not send it again before somebody has looked.',
    });
  });

  it('says nothing of a Secret that is not there', async () => {
    const keys = { read: () => Promise.reject(new ProviderKeyError('missing', 'Secret acme/s does not exist')) };
    expect(JSON.stringify(await toolsFor([aTool('send_email', spec)], { keys }).call('send_email', mail))).not.toContain('acme');
  });
});

describe('search_knowledge_base', () => {
  const hit = (n: number, content = `passage ${n}`): SearchHit => ({
    chunkId: `doc:${n}`,
    documentId: 'doc',
    filename: 'faq.pdf',
    content,
    score: 1 / n,
    chunkIndex: n,
    metadata: { title: 'Questions', page: n, internal: 'x' },
  });

  function searching(search: (request: SearchRequest) => Promise<readonly SearchHit[] | undefined>) {
    return toolsFor([], { agent: { tools: [], knowledgeBase: 'faq' }, search: { search } });
  }

  it('looks in the knowledge base of the agent, and keeps what it found with the message', async () => {
    const requests: SearchRequest[] = [];
    const { call } = searching(async (request) => {
      requests.push(request);
      return [hit(1), hit(2)];
    });
    expect(await call('search_knowledge_base', { query: ' When is breakfast? ' })).toEqual({
      results: [
        { source: 'Questions', page: 1, content: 'passage 1' },
        { source: 'Questions', page: 2, content: 'passage 2' },
      ],
    });
    expect(requests).toMatchObject([{ org: 'acme', knowledgeBase: 'faq', query: 'When is breakfast?', topK: 5 }]);
    expect(host.sources).toEqual([
      { knowledge_base: 'faq', document_id: 'doc', chunk_id: 'doc:1', filename: 'faq.pdf', score: 1 },
      { knowledge_base: 'faq', document_id: 'doc', chunk_id: 'doc:2', filename: 'faq.pdf', score: 0.5 },
    ]);
  });

  it('gives the model snippets and not whole chunks, the longest of the first hit', async () => {
    const { call } = searching(async ({ snippetLengths = [] }) =>
      snippetLengths.map((length, n) => ({ ...hit(n + 1, 'x'.repeat(5_000)), snippet: 'x'.repeat(length) })),
    );
    const { results } = (await call('search_knowledge_base', { query: 'x'.repeat(1_999) })) as { results: { content: string }[] };
    expect(results.map(({ content }) => content.length)).toEqual([1_600, 1_000, 600, 400, 400]);
    expect(host.sources).toHaveLength(5);
  });

  it.each([[[]], [undefined]])('says that there is nothing for %j', async (hits) => {
    expect(await searching(async () => hits).call('search_knowledge_base', { query: 'x' })).toMatchObject({ results: [] });
    expect(host.sources).toEqual([]);
  });

  it('says that it does not work at the moment', async () => {
    const { call } = searching(() => Promise.reject(new SearchUnavailableError('Postgres does not answer at the moment')));
    expect(await call('search_knowledge_base', { query: 'x' })).toMatchObject({
      error: expect.stringContaining('does not answer at the moment'),
    });
    expect(await call('search_knowledge_base', { query: '  ' })).toMatchObject({ error: expect.stringContaining('empty') });
  });
});

describe('a call that is over', () => {
  it('gives up a tool that still runs, and says nothing any more', async () => {
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    const hanging: Mailer = {
      send: (_mail, signal) => {
        resolve(signal);
        return new Promise((_done, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
      },
    };
    const spec = {
      type: 'SendEmail' as const,
      sendEmail: { from: 'a@b.example', passwordSecretRef: { name: 's', key: 'k' } },
      messages: { failed: 'That went wrong.' },
    };
    const stop = new AbortController();
    const running = toolsFor([aTool('send_email', spec)], { mailer: hanging, over: over.signal, stop: stop.signal }).call('send_email', {
      to: 'a@b.example',
      subject: 's',
      body: 'b',
    });
    const signal = await promise;
    over.abort();
    // The tool may still come to its end.
    expect(signal.aborted).toBe(false);
    stop.abort(new Error('the call is over'));
    expect(await running).toMatchObject({ error: expect.any(String) });
    expect([signal.aborted, host.said]).toEqual([true, []]);
  });
});
