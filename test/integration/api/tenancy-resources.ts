/** Predicts answers about tools and phone numbers, as a part of the model. */
import {
  agentId,
  anId,
  aName,
  atMost,
  list,
  pick,
  same,
  type Generator,
  type TenancyModel,
  type Situation,
  type ToolFacts,
} from './tenancy-model.ts';

type Family = ToolFacts['family'];

const variants = ['send_email', 'transfer_call', 'book_calendar'] as const;

function builtinBody(variant: string, text: string): object {
  const common = { tool_name: variant, tool_description: text };
  if (variant === 'send_email') return { ...common, from_email: 'a@b', app_password: `${text} password` };
  if (variant === 'transfer_call') return { ...common, transfer_to: '+15550100' };
  return { ...common, event_type_id: 1, cal_api_key: `${text} key` };
}

const customBody = (name: string, text: string): object => ({
  function_tool: { name },
  additional_tool_info: { api: { endpoint: 'https://example.com', headers: { Authorization: `${text} secret` } } },
  tool_start_message: text,
});

const mcpBody = (text: string): object => ({
  server_url: 'https://example.com/mcp',
  headers: { Authorization: `${text} secret` },
  tool_start_message: text,
});

/** Tells whether a tool of this agent has the function name already. */
const taken = (model: TenancyModel, agent: string, name: string, except?: string): boolean =>
  [...model.tools].some(([id, tool]) => id !== except && tool.agent === agent && tool.functionName === name);

/** Picks a tool with its agent; sometimes under another agent, or of the other family. */
function aTool(situation: Situation): { readonly agent: string; readonly id: string } {
  const { own, foreign, random } = situation;
  const id = anId(situation, [...own.tools.keys()], [...foreign.tools.keys()]);
  const agent = (random() < 0.85 ? (own.tools.get(id) ?? foreign.tools.get(id))?.agent : undefined) ?? agentId(situation);
  return { agent, id };
}

function familyRoutes(family: Family): Readonly<Record<string, Generator>> {
  const all = `/v2/ai-agents/:ai_agent_id/${family}-tools`;
  const path = (agent: string, id?: string): string => `/v2/ai-agents/${agent}/${family}-tools${id === undefined ? '' : `/${id}`}`;
  const known = ({ tools, agents }: TenancyModel, agent: string, id: string) => {
    const tool = tools.get(id);
    return tool?.agent === agent && tool.family === family && agents.has(agent) ? tool : undefined;
  };
  return {
    [`POST ${all}`]: (situation) => {
      const { own, random } = situation;
      const agent = agentId(situation);
      const text = aName(situation);
      const functionName = {
        custom: `${own.marker}_${Math.floor(random() * 8)}`,
        builtin: pick(random, variants) ?? 'transfer_call',
        // The names of its tools are the server's business.
        mcp: text,
      }[family];
      const kind = own.tools.size >= atMost ? 'dryRun' : (pick(random, ['made', 'made', 'made', 'broken', 'dryRun'] as const) ?? 'made');
      const sound = { custom: customBody, builtin: builtinBody, mcp: () => mcpBody(text) }[family](functionName, text);
      const status = kind === 'broken' ? 422 : !own.agents.has(agent) ? 404 : taken(own, agent, functionName) ? 409 : 201;
      return {
        request: {
          path: path(agent),
          body: kind === 'broken' ? { ...sound, tool_start_message: 5 } : sound,
          ...(kind === 'dryRun' && { query: 'dry_run=true' }),
        },
        expected: {
          status,
          learn: ({ body }) => {
            if (kind === 'made') own.tools.set(body.tool_id as string, { agent, family, functionName, text });
          },
        },
      };
    },
    [`GET ${all}`]: (situation) => {
      const agent = agentId(situation);
      const found = list(
        path(agent),
        ({ tools }) => [...tools].filter(([, tool]) => tool.agent === agent && tool.family === family).map(([id]) => id),
        (item) => item['tool_id'],
      )(situation);
      return { request: found.request, expected: { ...found.expected, status: situation.own.agents.has(agent) ? 200 : 404 } };
    },
    [`GET ${all}/:tool_id`]: (situation) => {
      const { agent, id } = aTool(situation);
      const tool = known(situation.own, agent, id);
      return {
        request: { path: path(agent, id) },
        expected: {
          status: tool === undefined ? 404 : 200,
          learn: ({ body }) => {
            same(family === 'builtin' ? body.tool_description : body.tool_start_message, tool?.text, `the text of ${id}`);
            const headers = body.additional_tool_info?.api.headers ?? body.headers;
            const secret = headers?.Authorization ?? body.app_password ?? body.cal_api_key;
            const shown = family === 'builtin' ? undefined : `${tool?.text} secret`;
            if (secret !== undefined && !mayRead(situation)) same(secret, '********', `the secret of ${id}`);
            else if (shown !== undefined && tool?.changed !== true) same(secret, shown, `the secret of ${id}`);
          },
        },
      };
    },
    [`PUT ${all}/:tool_id`]: (situation) => {
      const { own, random } = situation;
      const { agent, id } = aTool(situation);
      const tool = known(own, agent, id);
      const text = aName(situation);
      const kind = pick(random, ['changed', 'changed', 'renamed', 'broken', 'dryRun', 'outdated'] as const) ?? 'changed';
      const functionName =
        kind === 'renamed' && family === 'custom' ? `${own.marker}_${Math.floor(random() * 8)}` : (tool?.functionName ?? 'x');
      const change = family === 'builtin' ? { tool_description: text } : { tool_start_message: text };
      const body = {
        ...change,
        ...(kind === 'broken' && { tool_failed_message: [] }),
        ...(family === 'builtin' && { tool_name: functionName }),
        ...(family === 'custom' && kind === 'renamed' && { function_tool: { name: functionName } }),
      };
      const sound = kind === 'broken' ? 422 : kind === 'outdated' ? 412 : taken(own, agent, functionName, id) ? 409 : 200;
      return {
        request: {
          path: path(agent, id),
          body,
          ...(kind === 'dryRun' && { query: 'dry_run=true' }),
          ...(kind === 'outdated' && { headers: { 'if-match': '"1"' } }),
        },
        expected: {
          status: tool === undefined ? 404 : sound,
          learn: () => {
            if (tool !== undefined && kind !== 'dryRun') own.tools.set(id, { ...tool, functionName, text, changed: true });
          },
        },
      };
    },
    [`DELETE ${all}/:tool_id`]: (situation) => {
      const { own, random } = situation;
      const { agent, id } = aTool(situation);
      const dryRun = random() < 0.6;
      return {
        request: { path: path(agent, id), ...(dryRun && { query: 'dry_run=true' }) },
        expected: {
          status: known(own, agent, id) === undefined ? 404 : 200,
          learn: () => {
            if (!dryRun && own.tools.delete(id)) own.gone.push(id);
          },
        },
      };
    },
  };
}

const numbers = '/v1/phone-numbers';
const numberId = (situation: Situation): string =>
  anId(situation, [...situation.own.numbers.keys()], [...situation.foreign.numbers.keys()]);
const mayRead = ({ caller }: Situation): boolean =>
  (caller.permissions ?? []).some((permission) => permission === 'secrets:read' || permission === 'secrets:write');

export const resourceGenerators: Readonly<Record<string, Generator>> = {
  ...familyRoutes('custom'),
  ...familyRoutes('builtin'),
  ...familyRoutes('mcp'),
  [`POST ${numbers}`]: (situation) => {
    const { own, foreign, random } = situation;
    const number = random() < 0.2 ? foreign.keptNumber : (pick(random, [own.keptNumber, ...own.freeNumbers]) ?? own.keptNumber);
    const text = aName(situation);
    const agent = random() < 0.5 ? agentId(situation) : undefined;
    const kind = own.numbers.size >= atMost ? 'dryRun' : (pick(random, ['made', 'made', 'broken', 'dryRun'] as const) ?? 'made');
    const provider = random() < 0.5 ? 'sip' : 'native';
    const inUse = number === foreign.keptNumber || [...own.numbers.values()].some((other) => other.number === number);
    const agentFits = agent === undefined || own.agents.has(agent);
    return {
      request: {
        path: numbers,
        body: {
          provider,
          phone_number: number,
          friendly_name: kind === 'broken' ? 5 : text,
          ...(agent !== undefined && { inbound_agent_id: agent }),
          ...(provider === 'sip' && { sip_trunk_password: `${text} secret` }),
        },
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
      },
      expected: {
        status: kind === 'broken' || !agentFits ? 422 : inUse ? 409 : 201,
        learn: ({ body }) => {
          if (kind === 'made')
            own.numbers.set(body._id as string, {
              number,
              provider,
              text,
              inbound: agent,
              ...(provider === 'sip' && { secret: `${text} secret` }),
            });
        },
      },
    };
  },
  [`GET ${numbers}`]: list(
    numbers,
    (model) => [...model.numbers.keys()],
    (item) => item['_id'],
  ),
  [`GET ${numbers}/:phone_number_id`]: (situation) => {
    const id = numberId(situation);
    const known = situation.own.numbers.get(id);
    return {
      request: { path: `${numbers}/${id}` },
      expected: {
        status: known === undefined ? 404 : 200,
        learn: ({ body }) => {
          same([body.phone_number, body.provider, body.friendly_name], [known?.number, known?.provider, known?.text], `the number ${id}`);
          if (known?.secret !== undefined)
            same(body.sip_trunk_password, mayRead(situation) ? known.secret : '********', `the secret of ${id}`);
        },
      },
    };
  },
  [`PATCH ${numbers}/:phone_number_id`]: (situation) => {
    const { own, random } = situation;
    const id = numberId(situation);
    const known = own.numbers.get(id);
    const text = aName(situation);
    const kind = pick(random, ['changed', 'changed', 'linked', 'broken', 'dryRun', 'outdated'] as const) ?? 'changed';
    const agent = agentId(situation);
    const sound = kind === 'outdated' ? 412 : kind === 'linked' && !own.agents.has(agent) ? 422 : 200;
    return {
      request: {
        path: `${numbers}/${id}`,
        body: {
          friendly_name: text,
          ...(kind === 'broken' && { carrier_auth_token: 'x' }),
          ...(kind === 'linked' && { outbound_agent_id: agent }),
        },
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
        ...(kind === 'outdated' && { headers: { 'if-match': '"1"' } }),
      },
      expected: {
        status: known === undefined ? 404 : kind === 'broken' ? 422 : sound,
        learn: () => {
          if (known !== undefined && kind !== 'dryRun')
            own.numbers.set(id, { ...known, text, ...(kind === 'linked' && { outbound: agent }) });
        },
      },
    };
  },
  [`DELETE ${numbers}/:phone_number_id`]: (situation) => {
    const { own, random } = situation;
    const id = numberId(situation);
    const known = own.numbers.get(id);
    const dryRun = random() < 0.6 || known?.number === own.keptNumber;
    return {
      request: { path: `${numbers}/${id}`, ...(dryRun && { query: 'dry_run=true' }) },
      expected: {
        status: known === undefined ? 404 : 200,
        learn: () => {
          if (!dryRun && own.numbers.delete(id)) own.gone.push(id);
        },
      },
    };
  },
};
