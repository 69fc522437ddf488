/** The text that the Swig packages have an EVM owner sign: an oracle for our own. */
import type { PublicKey } from "@solana/web3.js"
import {
  Actions,
  createEd25519AuthorityInfo,
  createSecp256k1AuthorityInfo,
  getMockAuthorityFromCreateAuthorityInfo
} from "@swig-wallet/lib"
import { findSwigPda } from "@swig-wallet/classic"

export const addAuthorityText = async ({
  agent,
  id,
  odometer,
  owner,
  slot
}: {
  agent: PublicKey
  owner: Uint8Array
  id: Uint8Array
  slot: bigint
  odometer: number
}): Promise<string> => {
  let text = ""
  await getMockAuthorityFromCreateAuthorityInfo(createSecp256k1AuthorityInfo(owner)).addAuthority({
    swigAddress: findSwigPda(id),
    payer: agent,
    actingRoleId: 0,
    actions: Actions.set().subAccount().get(),
    newAuthorityInfo: createEd25519AuthorityInfo(agent),
    options: {
      currentSlot: slot,
      odometer,
      payer: agent,
      signingFn: async (message) => {
        text = Buffer.from(message).toString()
        return { signature: new Uint8Array(65) }
      }
    }
  })
  return text
}
