import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';

import { parseSmtpServers } from '../../../platform/config/smtp-servers.ts';
import type { Clock } from '../../../platform/clock.ts';
import { selfSigned } from '../../../local-stack/components/self-signed.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Mail } from './mailer.ts';
import { createSmtpMailer } from './smtp-mailer.ts';
import { smtpServerOf } from './smtp-mailer.ts';

const mail: Mail = {
  from: 'desk@hotel.example',
  password: 'app-pass-0815',
  to: 'ada@guest.example',
  subject: 'Your room',
  text: 'It is ready.\n.\nBye',
};

const stops: (() => Promise<void>)[] = [];
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))));

async function startServer(options: SMTPServerOptions = {}, host = '127.0.0.1') {
  const received: { from: string; to: string[]; secure: boolean; user: string; data: string }[] = [];
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    onAuth: ({ username = '', password }, _session, done) =>
      password === mail.password ? done(null, { user: username }) : done(new Error(`bad password ${password}`)),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: String(session.user),
          data: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  const { promise, resolve } = Promise.withResolvers<number>();
  const listener = server.listen(0, host, () => {
    const address = listener.address();
    resolve(typeof address === 'object' && address !== null ? address.port : 0);
  });
  stops.push(() => new Promise((done) => server.close(() => done())));
  const cut = (): void => server.connections.forEach((connection) => connection.close());
  return { received, port: await promise, cut };
}

const signal = new AbortController().signal;
const timeoutMs = 600_000;
const through = (address: string, { ca, clock = new FakeClock() }: { readonly ca?: string; readonly clock?: Clock } = {}) =>
  createSmtpMailer({ servers: parseSmtpServers([`hotel.example=${address}`]), ...(ca !== undefined && { ca }), timeoutMs, clock });

describe('the mailer', () => {
  it('sends one mail to one recipient, as the account', async () => {
    const { received, port } = await startServer();
    await through(`smtp://127.0.0.1:${port}`).send(mail, signal);
    expect(received).toMatchObject([{ from: 'desk@hotel.example', to: ['ada@guest.example'], user: 'desk@hotel.example' }]);
    expect(received[0]?.data).toContain('Subject: Your room');
    expect(received[0]?.data).toContain('It is ready.');
  });

  it('goes over to TLS where the server offers it, and begins with it for smtps', async () => {
    const starttls = await startServer();
    const implicit = await startServer({ secure: true });
    await through(`smtp://127.0.0.1:${starttls.port}`).send(mail, signal);
    await through(`smtps://127.0.0.1:${implicit.port}`).send(mail, signal);
    expect([starttls.received[0]?.secure, implicit.received[0]?.secure]).toEqual([true, true]);
  });

  it('puts nothing into the head that a text brings along', async () => {
    const { received, port } = await startServer();
    await through(`smtp://127.0.0.1:${port}`).send({ ...mail, subject: 'Hi\r\nBcc: all@guest.example' }, signal);
    expect(received[0]?.to).toEqual(['ada@guest.example']);
    expect(received[0]?.data).not.toMatch(/^Bcc:/m);
  });

  it('reports a refused password, without it', async () => {
    const { port } = await startServer();
    const sent = through(`smtp://127.0.0.1:${port}`).send({ ...mail, password: 'wrong-pass' }, signal);
    await expect(sent).rejects.toMatchObject({ name: 'MailError', kind: 'refused', message: expect.not.stringContaining('wrong-pass') });
  });

  it('reports a refused recipient, without what the server says', async () => {
    const { port } = await startServer({
      onRcptTo: (_address, _session, done) => done(new Error(`no such mailbox, and ${mail.password} is no secret`)),
    });
    await expect(through(`smtp://127.0.0.1:${port}`).send(mail, signal)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/^127\.0\.0\.1 does not take the mail \(\d+\)$/),
    });
  });

  it('reports a server that is silent, or unreachable', async () => {
    const clock = new FakeClock();
    const { port } = await startServer({ onConnect: () => clock.tick(timeoutMs) });
    await expect(through(`smtp://127.0.0.1:${port}`, { clock }).send(mail, signal)).rejects.toMatchObject({ kind: 'unreachable' });
    await expect(through('smtp://127.0.0.1:1').send(mail, signal)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('does not know what became of a mail that a server got and did not answer to', async () => {
    const clock = new FakeClock();
    const silent = await startServer({ onData: (stream) => void stream.resume().on('end', () => clock.tick(timeoutMs)) });
    const sent = through(`smtp://127.0.0.1:${silent.port}`, { clock }).send(mail, signal);
    await expect(sent).rejects.toMatchObject({ kind: 'unknown' });
    const lost = await startServer({ onData: (stream) => void stream.resume().on('end', () => lost.cut()) });
    await expect(through(`smtp://127.0.0.1:${lost.port}`).send(mail, signal)).rejects.toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('may have been sent'),
    });
    const over = new AbortController();
    const last = await startServer({ onData: (stream) => void stream.resume().on('end', () => over.abort()) });
    await expect(through(`smtp://127.0.0.1:${last.port}`).send(mail, over.signal)).rejects.toMatchObject({ kind: 'unknown' });
  });

  it('knows that a mail was not sent which the server refuses, or did not get', async () => {
    const refusing = await startServer({
      onData: (stream, _session, done) => void stream.resume().on('end', () => done(new Error('spam'))),
    });
    await expect(through(`smtp://127.0.0.1:${refusing.port}`).send(mail, signal)).rejects.toMatchObject({ kind: 'rejected' });
    const clock = new FakeClock();
    const silent = await startServer({ onRcptTo: () => clock.tick(timeoutMs) });
    await expect(through(`smtp://127.0.0.1:${silent.port}`, { clock }).send(mail, signal)).rejects.toMatchObject({
      kind: 'unreachable',
    });
    const lost = await startServer({ onRcptTo: () => lost.cut() });
    await expect(through(`smtp://127.0.0.1:${lost.port}`).send(mail, signal)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('reports a domain without a known server', async () => {
    await expect(createSmtpMailer({ servers: new Map() }).send(mail, signal)).rejects.toMatchObject({
      kind: 'no_server',
      message: expect.stringContaining('hotel.example'),
    });
  });

  it('sends no password in clear, or to a stranger, beyond this machine', async () => {
    // The address leads to this machine, and is none of its own addresses.
    const host = '0.0.0.0';
    const plain = await startServer({ disabledCommands: ['STARTTLS'] }, host);
    await expect(through(`smtp://${host}:${plain.port}`).send(mail, signal)).rejects.toMatchObject({ kind: 'unreachable' });
    const { key, cert } = selfSigned({ names: ['mail.hotel.example'], addresses: [host] });
    const strange = await startServer({ key, cert }, host);
    await expect(through(`smtp://${host}:${strange.port}`).send(mail, signal)).rejects.toMatchObject({ kind: 'unreachable' });
    await through(`smtp://${host}:${strange.port}`, { ca: cert }).send(mail, signal);
    expect([plain.received.length, strange.received.length]).toEqual([0, 1]);
  });
});

describe('the server of an address', () => {
  const servers = parseSmtpServers(['hotel.example=smtp://mail.hotel.example', 'gmail.com=smtps://[::1]:2465']);

  it.each([
    ['desk@hotel.example', { host: 'mail.hotel.example', port: 587, secure: false }],
    ['Desk@HOTEL.example', { host: 'mail.hotel.example', port: 587, secure: false }],
    ['ada@gmail.com', { host: '::1', port: 2465, secure: true }],
    ['ada@outlook.com', { host: 'smtp-mail.outlook.com', port: 587, secure: false }],
    ['ada@yahoo.com', { host: 'smtp.mail.yahoo.com', port: 465, secure: true }],
    ['ada@elsewhere.example', undefined],
    // The name is no domain, but the list of services has it, too.
    ['ada@Maildev', undefined],
  ])('%s', (address, server) => {
    expect(smtpServerOf(address, servers)).toEqual(server);
  });

  it('is that of all others where there is one', () => {
    expect(smtpServerOf('ada@gmail.com', parseSmtpServers(['*=smtp://relay.example:2525']))).toMatchObject({
      host: 'relay.example',
      port: 2525,
    });
  });

  it.each(['hotel.example', 'hotel.example=http://x', '=smtp://x', 'a b=smtp://x', 'x=smtp://user:pw@host', 'x=smtp://host/path'])(
    'can not be read from %s',
    (item) => {
      expect(() => parseSmtpServers([item])).toThrow(RangeError);
    },
  );
});
