import type { Page } from 'playwright-core';

/** Bytes of everything that a page loads. */
export interface PageWeight {
  /** Unpacked, without headers. */
  readonly decoded: number;
  /** As it travels, with headers. */
  readonly transferred: number;
}

/** Weighs what a navigation loads: the page, its style, its script, its icon. */
export async function weighPage(page: Page, navigate: () => Promise<unknown>): Promise<PageWeight> {
  const weight = { decoded: 0, transferred: 0 };
  const session = await page.context().newCDPSession(page);
  session.on('Network.dataReceived', ({ dataLength }) => void (weight.decoded += dataLength));
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (weight.transferred += encodedDataLength));
  await session.send('Network.enable');
  // What an earlier page has loaded weighs nothing otherwise.
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await navigate();
  await page.waitForLoadState('networkidle');
  await session.detach();
  return weight;
}
