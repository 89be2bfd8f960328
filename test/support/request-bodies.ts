/** Generates random JSON bodies, sound and not, for comparing how they are read. */
import * as fc from 'fast-check';

/** Generates values near the bounds and conversions of the models, and arbitrary JSON. */
export const value = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1,
    5,
    6,
    0.5,
    1.5,
    1.0000001,
    2,
    1e15,
    'true',
    'Yes',
    'off',
    '0',
    '5',
    ' 5',
    '-0',
    '1e3',
    '1_000',
  ),
  fc.constantFrom<unknown>('', 'a', 'ab', 'abcde', '😀😀', 'http://x', 'https://', 'cafe', 'none', 'simple', 'é', '\u0000', 'inf', 'NaN'),
  fc.integer({ min: -10, max: 10 }),
  fc.double({ min: -3, max: 3, noNaN: true }),
  fc.constantFrom<unknown>(2 ** 53, 2 ** 63 - 1024, -(2 ** 63), 2 ** 63, 5e18, 3e20, 1e21, -1e300),
  fc.integer({ min: -10, max: 10 }).map(String),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.array(fc.oneof(fc.string({ maxLength: 4 }), fc.integer(), fc.constant(null)), { maxLength: 4 }),
  fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.oneof(fc.string({ maxLength: 3 }), fc.integer()), { maxKeys: 4 }),
  fc.record(
    { name: fc.oneof(fc.string({ maxLength: 5 }), fc.integer()), count: fc.oneof(fc.integer(), fc.string({ maxLength: 2 })) },
    { requiredKeys: [] },
  ),
  fc.array(fc.record({ name: fc.string({ maxLength: 4 }), count: fc.integer() }, { requiredKeys: [] }), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const some = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] });
/** Generates mostly the right value, and else anything. */
const mostly = (right: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: value });
const long = (...lengths: number[]) => fc.constantFrom(...lengths).map((length) => 'x'.repeat(length));
const said = mostly(fc.oneof(fc.constant('One moment'), long(1000, 1001)));
const spoken = Object.fromEntries(['start', 'delayed', 'complete', 'failed'].map((when) => [`tool_${when}_message`, said]));
const tool = { tool_id: mostly(long(10, 253, 254)), ...spoken };
const params = mostly(
  fc.dictionary(fc.oneof(fc.constantFrom('a', 'b'), long(128, 129)), some({ description: said, value }), { maxKeys: 3 }),
);
const tenfold = fc.constantFrom(32, 33, 64, 65).map((count) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, 'x'])));
const customFields = {
  ...tool,
  function_tool: mostly(
    some({
      name: mostly(fc.oneof(fc.constantFrom('find_order', 'a b', '', 'é'), long(64, 65))),
      description: said,
      parameters: fc.oneof(value, tenfold),
    }),
  ),
  additional_tool_info: mostly(
    some({
      tool_type: mostly(fc.constant('custom')),
      api: mostly(
        some({
          endpoint: mostly(fc.constantFrom('https://x', 'http:/x', 'ftp://x')),
          headers: fc.oneof(fc.dictionary(fc.constantFrom('a', 'X-Key', 'b c', ''), value, { maxKeys: 3 }), tenfold, value),
          method: mostly(fc.constantFrom('GET', 'get', 'HEAD')),
          parameters: mostly(some({ fixed_params: params, runtime_params: params })),
        }),
      ),
    }),
  ),
};
/** Generates a sound body, with one field as it comes. */
const nearly = (bodies: readonly object[], fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(fc.constantFrom(...bodies), fc.constantFrom(...Object.keys(fields)))
    .chain(([body, name]) => some({ [name]: fields[name] ?? value }).map((one) => Object.assign({}, body, one)));
const customBody = fc.oneof(
  some(customFields),
  nearly([{ function_tool: { name: 'find_order' }, additional_tool_info: { api: { endpoint: 'https://x' } } }], customFields),
);
const builtinFields = {
  ...tool,
  tool_description: said,
  from_email: mostly(fc.constantFrom('a@b', 'a b@c', '@')),
  app_password: mostly(fc.constantFrom('p', '', 'x'.repeat(4097))),
  transfer_to: mostly(fc.constantFrom('+15550100', '+05', 'sip:x', 'sip:', 'tel:1')),
  transfer_type: mostly(fc.constantFrom('cold_transfer', 'warm_transfer', 'hot')),
  display_phone_number: value,
  event_type_id: fc.oneof(value, fc.constantFrom(0, 1, 2_147_483_647, 2_147_483_648, '', 'event', 'x'.repeat(65), 1.5)),
  cal_api_key: mostly(fc.constantFrom('k', '')),
  timezone: mostly(fc.constantFrom('UTC', 'x'.repeat(65))),
};
const numberFields = {
  phone_number: mostly(fc.constantFrom('+15550100', '+1', '15550100', `+${'1'.repeat(16)}`)),
  friendly_name: mostly(long(1, 200, 201)),
  inbound_agent_id: mostly(long(1, 253, 254)),
  outbound_agent_id: mostly(fc.constant('agent-x')),
  sip_termination_uri: mostly(long(512, 513)),
  sip_trunk_username: mostly(long(256, 257)),
  sip_trunk_password: mostly(fc.constantFrom('p', '')),
  sip_infra_region: mostly(fc.constantFrom('global', 'bd', 'bd_link3', 'mars')),
  carrier_account_sid: mostly(fc.constantFrom('AC1', '')),
  carrier_auth_token: mostly(fc.constantFrom('t', '')),
};
/** Generates a few fields of the family: most variants lack some, and have others too many. */
const few = (from: Record<string, fc.Arbitrary<unknown>>, bodies: Tagged, tag: string) =>
  fc
    .tuple(fc.subarray(Object.keys(from), { maxLength: 6 }), mostly(fc.constantFrom(...bodies.map((body) => body[tag]))))
    .chain(([names, tagged]) =>
      fc.record({ ...Object.fromEntries(names.map((name) => [name, from[name] ?? value])), [tag]: fc.constant(tagged) }),
    );
const mail = { tool_name: 'send_email', from_email: 'a@b', app_password: 'p' };
const transfer = { tool_name: 'transfer_call', transfer_to: '+15550100' };
const calendar = { event_type_id: 1, cal_api_key: 'k' };
const book = { tool_name: 'book_calendar', ...calendar };
const check = { tool_name: 'check_calendar_availability', ...calendar };
const sip = { provider: 'sip', phone_number: '+15550100' };
const native = { provider: 'native', phone_number: '+15550100' };
const carrier = { provider: 'carrier', phone_number: '+15550100', carrier_account_sid: 'AC1', carrier_auth_token: 't' };
type Tagged = readonly Readonly<Record<string, unknown>>[];
const builtin = (...bodies: readonly object[]) =>
  fc.oneof(few(builtinFields, bodies as Tagged, 'tool_name'), some(builtinFields), nearly(bodies, builtinFields));
// The tag is always there in a new number, because a tag with a default is ours alone.
const number = (...bodies: readonly object[]) => fc.oneof(few(numberFields, bodies as Tagged, 'provider'), nearly(bodies, numberFields));
const baseFields = {
  name: mostly(long(1, 200, 201)),
  description: mostly(long(0, 1500, 1501)),
  document_language: mostly(fc.constantFrom('bn', 'en-US', 'zh-Hant-TW', 'e', 'e!', 'x'.repeat(36))),
};
const base = fc.oneof(some(baseFields), nearly([{ name: 'Manuals' }], baseFields));
// A text that has the form of an address and is none is refused here, and FastAPI would not notice.
const url = mostly(fc.constantFrom('https://x.example', 'http://x', 'ftp://x.example', `https://x/${'y'.repeat(2048)}`));
const website = some({ page_urls: mostly(fc.oneof(fc.array(url, { maxLength: 4 }), fc.constant(Array(101).fill('http://x')))) }).filter(
  (body) => !JSON.stringify(body).includes('"https://"'),
);
const searchFields = {
  query: mostly(long(0, 1, 2000, 2001)),
  knowledge_base_id: mostly(fc.constant('kb-x')),
  top_k: mostly(fc.constantFrom(0, 1, 100, 101)),
  filter: mostly(fc.constantFrom({ a: { $eq: 1 } }, {}, null)),
};
// Each search has `top_k`, whose default is ours alone.
const search = nearly([{ query: 'x', knowledge_base_id: 'kb-x', top_k: 5 }], searchFields);
/** Bodies by the name of the schema. */
export const routeBodies = {
  customTool: customBody,
  customToolUpdate: customBody,
  builtinTool: builtin(mail, transfer, book, check),
  sendEmailUpdate: builtin(mail),
  transferCallUpdate: builtin(transfer),
  bookCalendarUpdate: builtin(book),
  checkCalendarAvailabilityUpdate: builtin(check),
  phoneNumber: number(sip, native, carrier),
  sipUpdate: number(sip),
  nativeUpdate: number(native),
  carrierUpdate: number(carrier),
  knowledgeBase: base,
  knowledgeBaseUpdate: base,
  website,
  search,
} as const;
