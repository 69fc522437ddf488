/** Where people sign in with their wallets. */
import { Context } from "effect"

export class SignInSettings extends Context.Service<
  SignInSettings,
  {
    /** Origins of the frontends, as browsers write them. Nobody can sign in while there is none. */
    readonly origins: ReadonlyArray<string>
    /** Chains that a message may name beside Ethereum. */
    readonly chainIds: ReadonlyArray<number>
  }
>()("ballast/domain/identity/SignInSettings") {}
