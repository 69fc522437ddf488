/**
 * The address that a caller is counted under. An IPv6 host usually owns a whole /64, so that prefix is what is counted;
 * an IPv4 address mapped into IPv6 counts as the IPv4 address. Source: RFC 4291, RFC 6177.
 */

const mapped = "::ffff:"

/** The first four of the eight groups of an IPv6 address, written out. */
const network64 = (address: string): string => {
  const [head = "", tail] = address.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0")
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`
}

export const clientAddress = (remote: string | undefined): string => {
  if (remote === undefined) return "unknown"
  if (!remote.includes(":")) return remote
  if (remote.startsWith(mapped) && remote.includes(".")) return remote.slice(mapped.length)
  return network64(remote)
}
