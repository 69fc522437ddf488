/**
 * Port: encrypts what the service must be able to read again, so that the database alone does not give it away. What is
 * sealed for one purpose and owner is not opened for another.
 */
import { Context, type Option, type Redacted } from "effect"

/**
 * Encrypts secrets that must be read again.
 *
 * **When to use**
 *
 * Use for secrets of webhooks. What is only compared is hashed by `KeyHash`.
 */
export class SecretBox extends Context.Service<
  SecretBox,
  {
    /** Two peppers are accepted. */
    readonly isExchanging: boolean
    /** `label` names purpose and owner. */
    readonly seal: (label: string, plain: Redacted.Redacted<Uint8Array>) => Uint8Array
    /** None when it was sealed under another label or by another deployment, or was changed. */
    readonly open: (label: string, sealed: Uint8Array) => Option.Option<Redacted.Redacted<Uint8Array>>
    /** Seals again under the pepper of `seal`; none when it was not sealed under the other accepted pepper. */
    readonly reseal: (label: string, sealed: Uint8Array) => Option.Option<Uint8Array>
  }
>()("ballast/domain/identity/SecretBox") {}
