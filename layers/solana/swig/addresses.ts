/**
 * The addresses of a Swig wallet. Every address follows from the wallet's id of 32 bytes.
 *
 * Source: the Swig program, `state/src/swig.rs`.
 */
import { PublicKey } from "@solana/web3.js"

/** The Swig program, the same on mainnet and devnet. */
/** Its instructions read accounts and compare them; wallets add some to what their owners sign. */
export const assertionProgram = new PublicKey("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")

export const swigProgram = new PublicKey("swigypWHEksbC64pWKwah1WTeh9JXwx8H1rJHLdbQMB")

const text = (seed: string) => new TextEncoder().encode(seed)

const u32 = (value: number) => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

/** A program-derived address with its bump seed. */
export interface Derived {
  readonly address: PublicKey
  readonly bump: number
}

const derive = (...seeds: ReadonlyArray<Uint8Array>): Derived => {
  const [address, bump] = PublicKey.findProgramAddressSync([...seeds], swigProgram)
  return { address, bump }
}

/** The account that holds the wallet's roles; the interface's `walletAccountId`. */
export const walletConfig = (id: Uint8Array): Derived => derive(text("swig"), id)

/** The account that holds what the root owns; owners withdraw by way of it. */
export const rootHoldings = (config: PublicKey): Derived => derive(text("swig-wallet-address"), config.toBytes())

/** The account that one role alone acts for; the interface's `depositAccountId`. */
export const subAccount = (id: Uint8Array, roleId: number): Derived => derive(text("sub-account"), id, u32(roleId))
