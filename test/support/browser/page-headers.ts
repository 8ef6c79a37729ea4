/** Returns the headers that a browser sends with a form of a console page: the page's cookie, token and origin. */
export async function pageHeaders(
  origin: string,
  load: (path: string) => Response | Promise<Response>,
): Promise<Record<string, string>> {
  const page = await load('/health');
  const token = /<meta name="lote-form" content="([^"]+)"/u.exec(await page.text())?.[1] ?? '';
  const cookie = page.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .join('; ');
  return { origin, cookie, 'x-lote-form': token };
}
