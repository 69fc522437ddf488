/** Where people sign in with their wallets. */
import { Context } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"

/**
 * Where people may sign in.
 *
 * **When to use**
 *
 * Use to check the origin and chain of a sign-in message, and the origin of a cookie.
 */
export class SignInSettings extends Context.Service<
  SignInSettings,
  {
    /** Origins of the frontends, as browsers write them. Nobody can sign in while there is none. */
    readonly origins: ReadonlyArray<string>
    /** Chains that a message may name beside Ethereum. */
    readonly chainIds: ReadonlyArray<ChainId>
  }
>()("ballast/domain/identity/SignInSettings") {}
