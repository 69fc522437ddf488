/**
 * Addresses to which something is sent on behalf of a tenant. Pure.
 *
 * Only what is allocated to hosts of the internet counts as public; everything else is refused, also what later
 * standards set aside within. Source: IANA registries of special-purpose addresses, RFC 4291 (global unicast 2000::/3).
 */
import ipaddr from "ipaddr.js"

export type Targets = "public" | "loopback"

const ports: ReadonlySet<string> = new Set(["", "443", "8443"])
const globalUnicast = ipaddr.IPv6.parse("2000::")

/**
 * Addresses of the internet by their range that a cloud answers itself inside of every network of its customers: the
 * platform of Azure, with certificates, configuration and name service of a machine. What others have of this kind lies
 * in ranges that are refused: 169.254.0.0/16, 100.64.0.0/10, 192.0.0.0/24, fc00::/7, fe80::/10.
 */
const ofClouds: ReadonlySet<string> = new Set(["168.63.129.16"])

/** The port of an address of the machine itself, and nothing else, may be any. */
const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || (ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback")

/** Whether a connection to this address may be opened; `address` is what a socket would connect to. */
export const isAllowedAddress = (address: string, targets: Targets): boolean => {
  // A zone belongs to a link, and so to no host of the internet.
  if (address.includes("%") || !ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range === "loopback") return targets === "loopback"
  if (range !== "unicast") return false
  if (parsed.kind() === "ipv6") return (parsed as ipaddr.IPv6).match(globalUnicast, 3)
  return !ofClouds.has(parsed.toString())
}

/** Host without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/gu, "")

/** Why nothing is sent there, whatever its host's name resolves to; null when something is. */
export const refusalOf = (text: string, targets: Targets): string | null => {
  if (!URL.canParse(text)) return "expected an absolute https URL"
  const url = new URL(text)
  const host = hostOf(url)
  const isOwn = targets === "loopback" && isLoopbackHost(host)
  if (url.protocol !== "https:" && !(isOwn && url.protocol === "http:")) return "expected an https URL"
  if (url.username !== "" || url.password !== "") return "expected a URL without user name and password"
  if (url.hash !== "") return "expected a URL without a fragment"
  if (!isOwn && !ports.has(url.port)) return "expected port 443 or 8443"
  if (ipaddr.isValid(host)) return isAllowedAddress(host, targets) ? null : "expected an address of the internet"
  if (!isOwn && (!host.includes(".") || host.endsWith(".localhost"))) return "expected a host of the internet"
  return null
}
