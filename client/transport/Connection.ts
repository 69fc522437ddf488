/** Where the service is, and who asks. */
import { notSent } from "#client/transport/BallastError.ts"

export interface ConnectionOptions {
  /** Address of the deployment, without `/v1` or `/v2`. */
  readonly baseUrl: string
  /** Replaces the platform's own `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** How often what is safe to send again is, when the failure may pass; as often as its time allows when left out. */
  readonly retries?: number
  /** Seconds until a call without an answer fails, retries included; 30 when left out. */
  readonly timeoutSeconds?: number
  /** Whether the browser sends cookies, as of `fetch`; `include` for a session in a cookie of another origin. */
  readonly credentials?: RequestCredentials
}

export interface Connection {
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
  /** What every request presents. */
  readonly headers: Readonly<Record<string, string>>
  readonly credentials: RequestCredentials | undefined
  readonly retries: number
  readonly timeoutSeconds: number
}

const defaultTimeoutSeconds = 30

/** What a header can contain. The value may be a secret and is not repeated. */
const isVisible = (text: string) => /^[!-~]+$/u.test(text)

const originOf = (baseUrl: string): string => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw notSent('baseUrl: Expected the address of the API, such as "https://api.ballast.example"')
  return baseUrl.replace(/\/+$/u, "")
}

/** `secrets` are headers by the name of the option that they are given in. */
export const connectionOf = (
  { baseUrl, credentials, fetch, retries, timeoutSeconds }: ConnectionOptions,
  secrets: Readonly<Record<string, { readonly header: string; readonly value: string; readonly scheme?: string }>>
): Connection => {
  for (const [option, { value }] of Object.entries(secrets))
    if (!isVisible(value)) throw notSent(`${option}: Expected visible ASCII characters alone`)
  return {
    baseUrl: originOf(baseUrl),
    // The platform's at the time of the call, as the program has it then.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    headers: Object.fromEntries(
      Object.values(secrets).map(({ header, scheme = "", value }) => [header, `${scheme}${value}`])
    ),
    credentials,
    retries: retries ?? Infinity,
    timeoutSeconds: timeoutSeconds ?? defaultTimeoutSeconds
  }
}
