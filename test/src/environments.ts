/** Environments of tests, and what the service reads of them. */
import { ConfigProvider, Effect } from "effect"
import { serviceConfig } from "#src/Config.ts"

/** A private key of one digit. */
export const key = (digit: string) => `0x${digit.repeat(64)}`
/** The minimum that a deployment sets. */
export const complete = {
  RPC_URL_8453: "https://base.example.com/v1/0123456789abcdef0123, https://other.example.com",
  UNISWAP_V2_ROUTER_8453: "0x4200000000000000000000000000000000000006",
  AGENT_PRIVATE_KEY: key("a"),
  RELAYER_PRIVATE_KEY: key("b"),
  API_KEY_PEPPER: "p".repeat(64),
  ADMIN_TOKEN: "admin-token-of-the-deployment",
  INTERNAL_TOKEN: "internal-token-of-the-deployment"
}

export const read = <A, E>(config: Effect.Effect<A, E>, env: Record<string, string>) =>
  Effect.provideService(config, ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env))

/** What the message of a refused environment says. */
export const problemsOf = (env: Record<string, string>) =>
  Effect.map(Effect.flip(read(serviceConfig, env)), ({ message }) => message)
