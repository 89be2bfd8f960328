import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { loadConfig } from '../../platform/config/config.ts';
import { DnsServer } from '../../test/support/dns-server.ts';
import type { SipGateway } from './gateway.ts';
import { guardedSipGateway } from './sip-guard.ts';
import { createSipGuard } from './sip-guard.ts';

const publicAddress = '93.184.216.34';

let dns: DnsServer;
beforeAll(async () => {
  dns = await DnsServer.start();
  dns.set('A trunk.example.com', { addresses: [publicAddress] });
  dns.set('A inside.example.com', { addresses: ['10.1.2.3'] });
  dns.set('A two-faced.example.com', { addresses: [publicAddress, '127.0.0.1'] });
  dns.set('AAAA six.example.com', { addresses: ['::1'] });
  dns.set('SRV _sip._udp.by-service.example.com', { servers: ['trunk.example.com', 'gone.example.com'] });
  dns.set('A hidden.example.com', { addresses: [publicAddress] });
  dns.set('SRV _sip._tcp.hidden.example.com', { servers: ['inside.example.com'] });
});
afterAll(() => dns.stop());

const guard = (env: Record<string, string> = {}) => createSipGuard(loadConfig({ PARLEY_EGRESS_DNS_SERVERS: dns.address, ...env }));

/** Spellings of addresses that no caller may reach. */
const inside = [
  'sip:127.0.0.1:39990',
  '127.0.0.1',
  'sip:2130706433',
  'sip:0x7f000001:5060',
  'sip:0177.0.0.1',
  'sip:127.1',
  'sip:0',
  'sips:169.254.169.254',
  'SIP:desk@10.0.0.1;transport=tcp',
  'sip:[::1]',
  'sip:[::1]:5060',
  'sip:[::ffff:127.0.0.1]',
  'sip:[::ffff:7f00:1]',
  'sip:[64:ff9b::7f00:1]',
  'sip:[fd00::1]:5061;transport=tls',
  'sip:localhost',
  'sip:localhost.:5060',
  'sip:x.localhost',
];

describe('an address as it is written', () => {
  it.each(inside)('%s is refused, with what to do', async (uri) => {
    expect(guard().check(uri)).toMatch(/PARLEY_SIP_ALLOW_CIDRS/);
    expect(await guard().vet(uri)).toBe(guard().check(uri));
  });

  it.each(['https://example.com', '', ' ', 'our trunk', 'tel:+15550100', 'sip:', 'sip:@', 'sip:example.com:70000', 'x'.repeat(512)])(
    '%j leads nowhere, and is refused',
    (uri) => expect(guard().check(uri)).toMatch(/is no SIP address|is no(t a)? host name/),
  );

  it.each(['redis', 'sip:asterisk:5060'])('%s would be looked for next to the SIP service', (uri) =>
    expect(guard().check(uri)).toContain('local network'),
  );

  it('on a port that may not be called is refused', () => expect(guard().check('sip:trunk.example.com:25')).toContain('port 25'));

  it.each(['trunk.example.com', 'sip:desk@trunk.example.com:5080;transport=tcp', 'sips:trunk.example.com', `sip:${publicAddress}`])(
    '%s may be called',
    (uri) => expect(guard().check(uri)).toBeUndefined(),
  );

  it('inside is fine where the installation allows it, for SIP alone or for everything', () => {
    const sipOnly = guard({ PARLEY_SIP_ALLOW_CIDRS: '10.0.0.0/8, 127.0.0.1/32' });
    for (const uri of ['sip:10.0.0.1', 'sip:127.0.0.1:39990', 'sip:localhost:5060']) expect(sipOnly.check(uri)).toBeUndefined();
    expect(sipOnly.check('sip:[::1]')).toBeDefined();
    expect(guard({ PARLEY_EGRESS_ALLOW_CIDRS: '10.0.0.0/8' }).check('sip:10.0.0.1')).toBeUndefined();
  });
});

describe('an address when it is called', () => {
  it.each(['inside.example.com', 'sip:two-faced.example.com', 'sip:x@six.example.com', 'sip:hidden.example.com'])(
    '%s leads inside, and is refused without saying where',
    async (uri) => {
      const problem = await guard().vet(uri);
      expect(problem).toContain('resolves to an address that is not on the public internet');
      expect(problem).not.toMatch(/10\.1\.2\.3|::1/);
    },
  );

  it.each(['trunk.example.com', 'sip:by-service.example.com'])('%s may be called', async (uri) =>
    expect(await guard().vet(uri)).toBeUndefined(),
  );

  it('that DNS does not know is refused: the SIP service might find it elsewhere', async () =>
    expect(await guard().vet('sip:redis.parley')).toContain('has no address in DNS'));
});

describe('a gateway behind the guard', () => {
  const asked: string[] = [];
  const gateway: SipGateway = {
    trunkAddress: async (trunk) => ({ ST_out: publicAddress, ST_in: '127.0.0.1:39990' })[trunk],
    dial: async ({ trunk }) => {
      asked.push(trunk);
      return { outcome: 'answered', sipCallId: 'x' };
    },
    refer: async ({ to }) => {
      asked.push(to);
      return { outcome: 'done' };
    },
    hangUp: async () => undefined,
    connect: async () => undefined,
  };
  const dial = { from: '+15550100', to: '+15550199', room: 'r', identity: 'i', ringSeconds: 1 };
  const refer = { room: 'r', identity: 'i', ringSeconds: 1 };

  it('dials through trunks that lead outside, and through the own ones of the installation', async () => {
    const guarded = guardedSipGateway(gateway, guard());
    expect(await guarded.dial({ ...dial, trunk: 'ST_out' })).toMatchObject({ outcome: 'answered' });
    expect(await guarded.dial({ ...dial, trunk: 'ST_in', ownTrunk: true })).toMatchObject({ outcome: 'answered' });
    asked.length = 0;
    const refused = await guarded.dial({ ...dial, trunk: 'ST_in' });
    expect(refused).toMatchObject({ outcome: 'failed', reason: 'carrier_error', message: expect.stringContaining('127.0.0.1') });
    expect(asked).toEqual([]);
  });

  it('hands callers to telephone numbers and public SIP addresses', async () => {
    const guarded = guardedSipGateway(gateway, guard());
    asked.length = 0;
    for (const uri of inside.filter((one) => /^sip/i.test(one)))
      expect((await guarded.refer({ ...refer, to: uri })).outcome, uri).toBe('failed');
    expect(asked).toEqual([]);
    const fine = ['tel:+15550100', 'sip:desk@trunk.example.com'];
    for (const to of fine) expect(await guarded.refer({ ...refer, to })).toEqual({ outcome: 'done' });
    expect(asked).toEqual(fine);
  });
});
