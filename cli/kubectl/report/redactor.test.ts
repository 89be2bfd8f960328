import { describe, expect, it } from 'vitest';

import { Redactor } from './redactor.ts';

const secrets = [
  ['a password in an address', 'connect to postgres://parley:hunter2x@db.example.com:5432/parley', 'hunter2x'],
  ['a password with signs in it', 'at redis://:p%40ss/w0rd!@redis:6379', 'p%40ss/w0rd!'],
  ['a token before a host', 'clone https://tok3nt0ken@git.example.com/x', 'tok3nt0ken'],
  ['a parameter of an address', 'GET https://example.com/cb?code=ab12cd&state=1 failed', 'ab12cd'],
  ['an Authorization header', 'Authorization: Bearer abc.def-123456', 'abc.def-123456'],
  ['a bearer token in prose', 'sent bearer 0a1b2c3d4e5f', '0a1b2c3d4e5f'],
  ['JSON in a text', 'answer {"api_key":"k3yk3yk3y","n":1}', 'k3yk3yk3y'],
  ['JSON in JSON', String.raw`{\"password\":\"s3cr3tword\"}`, 's3cr3tword'],
  ['name=value', 'DATABASE_PASSWORD=letmein99 ready', 'letmein99'],
  ['another scheme', 'Authorization: Token 0a9b8c7d6e', '0a9b8c7d6e'],
  ['cookies', 'Cookie: theme=dark; sid=5e5510n1d', '5e5510n1d'],
  ['several words', `{"password": "correct horse 7 battery"}`, 'horse 7 battery'],
  ['several words in JSON in JSON', String.raw`{\"secret\":\"correct horse 7\",\"n\":1}`, 'horse 7'],
  ['a password in prose', 'the password is tr0ub4dor&3', 'tr0ub4dor'],
  ['a header with a key', 'X-Api-Key: 77aa88bb', '77aa88bb'],
  ['a flag', 'run --auth-token zxcv9876 --verbose', 'zxcv9876'],
  ['a key of Parley', 'with pk_9f8e7d6c5b4a39281706', '9f8e7d6c5b4a39281706'],
  ['a signing secret', 'signs with whsec_MfKQ9r8GKYqrTwjUPD8I', 'MfKQ9r8GKYqrTwjUPD8I'],
  ['a key of a model provider', 'key sk-proj-abcdef0123456789', 'abcdef0123456789'],
  ['a JSON web token', 'x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl y', 'eyJzdWIiOiIxIn0'],
  ['what is long and mixed', 'got Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5 back', 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5'],
  ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----', 'MIIabc'],
  ['half a private key', 'oops -----BEGIN RSA PRIVATE KEY-----\nMIIabc', 'MIIabc'],
  ['a mail address', 'mail to ada.lovelace@example.com', 'ada.lovelace'],
  ['a phone number', 'call from +4915123456789', '15123456789'],
] as const;

describe('Redactor', () => {
  it.each(secrets)('masks %s', (_, text, secret) => {
    const masked = new Redactor().text(text);
    expect(masked).toContain('********');
    expect(masked).not.toContain(secret);
  });

  it.each(
    secrets
      .filter(
        ([name]) => !['several words', 'cookies', 'another scheme', 'several words in JSON in JSON', 'a password in prose'].includes(name),
      )
      .slice(0, 12),
  )('masks %s wherever else it stands', (_, text, secret) => {
    const redactor = new Redactor();
    redactor.text(text);
    expect(redactor.finish(`somebody has said ${secret} aloud`)).toBe('somebody has said ******** aloud');
  });

  it.each([
    'reconciled key=acme/reception outcome=changed durationMs=12.5',
    'revision 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'pod parley-operator-7c9d8b6f5d-x2x7k of 0b6f7c0e-5f0e-4b37-9a3c-0d8a7f7d2a11',
    'image example.com/parley@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'Secret acme/keys does not exist',
    'at 2026-11-21T16:00:00.123Z on 10.0.0.12:8080',
    'GET https://example.com/v1/agents/reception',
  ])('leaves %s', (text) => {
    expect(new Redactor().text(text)).toBe(text);
  });

  it('knows a value in every form in which it is written', () => {
    const redactor = new Redactor();
    redactor.secret('pa"ss w0rd/1');
    const forms = ['pa"ss w0rd/1', JSON.stringify('pa"ss w0rd/1'), 'pa%22ss%20w0rd%2F1', Buffer.from('pa"ss w0rd/1').toString('base64')];
    for (const form of forms) expect(redactor.finish(form)).toMatch(/^"?\*{8}"?=*$/);
  });

  it('knows the parts of what it has masked, too', () => {
    const redactor = new Redactor();
    redactor.secret('postgres://parley:pass4word@db:5432/parley');
    redactor.secret('--license=lic-0815');
    expect(redactor.finish('pass4word, lic-0815')).toBe('********, ********');
  });

  it('takes no word and no name of an object for a secret that was seen elsewhere', () => {
    const redactor = new Redactor();
    redactor.keep('team-7');
    for (const value of ['production', 'parley-system', 'team-7', '8080', 'true']) expect(redactor.unknown(value)).toBe('********');
    expect(redactor.finish('production parley-system team-7 8080 true')).toBe('production parley-system team-7 8080 true');
  });

  it('takes a word for a secret where it stands in the place of one, and masks it as a whole word', () => {
    const redactor = new Redactor();
    redactor.keep('reception');
    for (const value of ['opensesame', 'reception', 'short', 'correct horse']) redactor.secret(value);
    redactor.unknown('postgres://postgres:letmeinplease@db/parley');
    expect(redactor.finish('refused "opensesame", b3BlbnNlc2FtZQ==, letmeinplease and correct horse')).toBe(
      'refused "********", ********==, ******** and ********',
    );
    expect(redactor.finish('reception short opensesames postgres')).toBe('reception short opensesames postgres');
  });
});
