import type { Page } from 'playwright-core';

/** Bytes of everything that a page loads. */
export interface PageWeight {
  /** Unpacked, without headers. */
  readonly decoded: number;
  /** As it travels, with headers. */
  readonly transferred: number;
}

/**
 * Weighs what a navigation loads: the page, its style, its script, its icon. Each address counts once, also where a page that keeps itself up to date asks
 * for its own again before a busy machine has shown it.
 */
export async function weighPage(page: Page, navigate: () => Promise<unknown>): Promise<PageWeight> {
  const weight = { decoded: 0, transferred: 0 };
  // An earlier page that keeps itself up to date would ask for its own once more, until the navigation is answered.
  await page.goto('about:blank');
  const session = await page.context().newCDPSession(page);
  const addresses = new Set<string>();
  const counted = new Set<string>();
  session.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
    if (!addresses.has(url)) counted.add(requestId);
    addresses.add(url);
  });
  session.on('Network.dataReceived', ({ requestId, dataLength }) => {
    if (counted.has(requestId)) weight.decoded += dataLength;
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (counted.has(requestId)) weight.transferred += encodedDataLength;
  });
  await session.send('Network.enable');
  // What an earlier page has loaded weighs nothing otherwise.
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await navigate();
  await page.waitForLoadState('networkidle');
  await session.detach();
  return weight;
}
