/** Wallets that other services use too: what they add is kept, and ours is read beside it. */
import { assert, describe, it } from "@effect/vitest"
import { Keypair } from "@solana/web3.js"
import { agentAction } from "#layers/solana/swig/Action.ts"
import { decodeWalletState, type WalletState } from "#layers/solana/swig/WalletState.ts"
import { encodeWalletState } from "#sandbox/solana/swig/encodeWalletState.ts"

const owner = Keypair.generate().publicKey
const agent = Keypair.generate().publicKey

/** A passkey (kind 5) may sign for a sub-account of the second kind (permission 23) and spend within a limit. */
const shared: WalletState = {
  id: new Uint8Array(32).fill(7),
  bump: 254,
  holdingsBump: 253,
  nextRole: 3,
  scopedSubAccounts: 2,
  roles: [
    { id: 0, holder: { _tag: "Ed25519", key: owner }, actions: [{ _tag: "All" }] },
    {
      id: 1,
      holder: { _tag: "Other", kind: 5, bytes: new Uint8Array(40).fill(3) },
      actions: [
        { _tag: "Other", kind: 23, body: new Uint8Array(8).fill(1) },
        { _tag: "Other", kind: 5, body: new Uint8Array(48).fill(2) }
      ]
    },
    { id: 2, holder: { _tag: "Ed25519", key: agent }, actions: [agentAction] }
  ]
}

describe("a wallet with roles of others", () => {
  it("is read with all of its roles, and written as it was", () => {
    const bytes = encodeWalletState(shared)
    assert.deepStrictEqual(decodeWalletState(bytes), shared)
    assert.deepStrictEqual(encodeWalletState(decodeWalletState(bytes)), bytes)
  })

  it("may have something behind its roles", () => {
    const claimer = Uint8Array.from([...encodeWalletState(shared), ...new Uint8Array(40).fill(9)])
    assert.deepStrictEqual(decodeWalletState(claimer), shared)
  })
})
