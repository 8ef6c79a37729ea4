import type { ServiceProfile } from '../../service-profile/profile.ts';

/** A path with parameters of the query set; one of the same name that stands in it already is replaced. */
export function withParameters(path: string, parameters: readonly (readonly [name: string, value: string])[]): string {
  if (parameters.length === 0) return path;
  const names = new Set(parameters.map(([name]) => name));
  const mark = path.indexOf('?');
  const kept =
    mark < 0
      ? []
      : path
          .slice(mark + 1)
          .split('&')
          .filter((part) => part !== '' && !names.has(nameOf(part)));
  const added = parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return `${mark < 0 ? path : path.slice(0, mark)}?${[...kept, ...added].join('&')}`;
}

/** Whether the query of a path has a parameter. */
export function hasParameter(path: string, name: string): boolean {
  const mark = path.indexOf('?');
  return (
    mark >= 0 &&
    path
      .slice(mark + 1)
      .split('&')
      .some((part) => nameOf(part) === name)
  );
}

/** What each request says of the size of a page. */
export function sizeParameters({
  sizeParameter,
  pageSize,
}: ServiceProfile['merchants']): readonly (readonly [name: string, value: string])[] {
  return sizeParameter === null || pageSize === null ? [] : [[sizeParameter, String(pageSize)]];
}

function nameOf(part: string): string {
  const [name = ''] = new URLSearchParams(part).keys();
  return name;
}
