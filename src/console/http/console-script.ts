/**
 * Better with JavaScript, whole without: a page that says it is live is read again every two seconds, unless somebody is
 * at work in it. A page that was led elsewhere meanwhile (a started batch that has its own address now) follows.
 */
export const CONSOLE_SCRIPT = `
async function refresh() {
  const main = document.querySelector('main[data-live]');
  if (main === null) return;
  const atWork = main.contains(document.activeElement) || main.querySelector('details[open]') !== null || String(getSelection()) !== '';
  if (!document.hidden && !atWork) {
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const next = answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null;
      const main2 = next === null ? null : next.querySelector('main');
      if (main2 !== null) {
        main.replaceWith(main2);
        document.title = next.title;
        if (answer.redirected) history.replaceState(null, '', answer.url);
      }
    } catch {
      // The console is restarting: the page stays as it is and asks again.
    }
  }
  setTimeout(refresh, 2000);
}
setTimeout(refresh, 2000);
`;
