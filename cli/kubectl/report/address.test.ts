import { describe, expect, it } from 'vitest';

import { maskAddress } from './address.ts';
import { Redactor } from './redactor.ts';

describe('maskAddress', () => {
  it.each([
    ['https://hooks.example.com/services/T0123/B456/zzYYxx99', 'https://hooks.example.com/services/********/********/********'],
    ['https://u:p4ssw0rd@example.com/v1/chat?key=abc#frag', 'https://********@example.com/v1/chat?key=********#********'],
    ['https://api.example.com/v1', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/chat-models/completions', 'https://api.example.com/v1/chat-models/completions'],
    ['https://hooks.example.com/services/XyzzyAbCdEfGhIjKlMnOpQrS', 'https://hooks.example.com/services/********'],
    ['https://hooks.example.com/in/qzxkvbtrwplmnhg', 'https://hooks.example.com/in/********'],
    ['https://hooks.example.com/in/abcdefghijklmnopqrstuvwx', 'https://hooks.example.com/in/********'],
    ['https://hooks.example.com:port/in', '********'],
    ['sip:alice@trunk', 'sip:/'],
    ['no address', '********'],
  ])('%s', (address, masked) => {
    const redactor = new Redactor();
    const result = maskAddress(address, redactor);
    if (masked === 'sip:/') expect(result).not.toContain('alice');
    else expect(result).toBe(masked);
  });
});

it('masks elsewhere what it has masked in a path, letters or not', () => {
  const redactor = new Redactor();
  maskAddress('https://hooks.example.com/services/XyzzyAbCdEfGhIjKlMnOpQrS', redactor);
  maskAddress('https://opensesame@example.com/', redactor);
  expect(redactor.finish('XyzzyAbCdEfGhIjKlMnOpQrS, opensesame, services')).toBe('********, ********, services');
});
