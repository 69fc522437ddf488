/**
 * Fields of a manifest that Kubernetes has no use for. Its schemas allow any field, and a cluster drops those that it
 * does not know, so that a probe with a wrong name is no probe. A schema reads every field that it has, whether
 * that is there or not: what was not read is unknown.
 */

/** Wraps a value so that the paths of what is never read can be listed. */
const watched = (value: unknown, path: string, unread: Set<string>): unknown => {
  if (typeof value !== "object" || value === null) return value
  const children = new Map(
    Object.entries(value).map(([name, child]) => {
      const at = `${path}.${name}`
      unread.add(at)
      return [name, { at, child: watched(child, at, unread) }] as const
    })
  )
  return new Proxy(value, {
    get: (target, name, receiver) => {
      const known = typeof name === "string" ? children.get(name) : undefined
      if (known === undefined) return Reflect.get(target, name, receiver)
      unread.delete(known.at)
      return known.child
    },
    // Labels and the like: every name is allowed.
    ownKeys: (target) => {
      for (const { at } of children.values()) unread.delete(at)
      return Reflect.ownKeys(target)
    }
  })
}

/** The paths of fields that `check` does not read; nothing is listed below such a field. */
export const unreadFieldsOf = (value: object, check: (value: object) => void): ReadonlyArray<string> => {
  const unread = new Set<string>()
  check(Object.fromEntries(Object.entries(value).map(([name, child]) => [name, watched(child, name, unread)])))
  return [...unread].filter((path) => ![...unread].some((other) => path.startsWith(`${other}.`)))
}
