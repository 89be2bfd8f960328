import { describe, expect, it } from 'vitest';

import { refreshTarget } from './refresh-target.ts';

const target = (html: string) => refreshTarget(Buffer.from(html), new URL('https://shop.example/old?a=1'));

describe('a page that sends browsers on', () => {
  it.each([
    ['<meta http-equiv="refresh" content="0; url=/new">', 'https://shop.example/new'],
    ['<META content="3;URL=\'https://www.shop.example/x?a=1&amp;b=2#top\'" HTTP-EQUIV=Refresh>', 'https://www.shop.example/x?a=1&b=2'],
    ["<meta http-equiv='refresh' content='0;new.html'>", 'https://shop.example/new.html'],
    ['<!doctype html><head><meta charset=utf-8><meta http-equiv=refresh content="1, url=../b">', 'https://shop.example/b'],
  ])('leads to its target: %s', (html, expected) => {
    expect(target(html)).toBe(expected);
  });

  it.each([
    ['shows itself again', '<meta http-equiv="refresh" content="0; url=/old?a=1#x">'],
    ['refreshes what it shows', '<meta http-equiv="refresh" content="5">'],
    ['is meant to be read first', '<meta http-equiv="refresh" content="30; url=/new">'],
    ['does so without scripts only', '<noscript><meta http-equiv="refresh" content="0; url=/no-js"></noscript>'],
    ['only speaks of it', '<!-- <meta http-equiv="refresh" content="0; url=/new"> --><p>meta refresh</p>'],
  ])('stays where it %s', (_, html) => {
    expect(target(html)).toBeUndefined();
  });
});
