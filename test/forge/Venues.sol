// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OddToken} from "./OddTokens.sol";

/// @title Takes what it is allowed, and pays what its caller says: as a pool does whose price somebody set
contract AnyPriceRoute {
    uint256 private constant ALL = type(uint256).max;

    /// @param take How much to take of the allowance.
    function swap(OddToken sell, OddToken buy, uint256 take, uint256 pay, address to) external {
        if (take == ALL) take = sell.allowance(msg.sender, address(this));
        if (take > 0) sell.transferFrom(msg.sender, address(this), take);
        if (pay > 0) {
            buy.mint(address(this), pay);
            buy.transfer(to, pay);
        }
    }

    /// @dev Calls anything in the course of a swap, and goes on whether or not that succeeds.
    function swapAndCall(OddToken sell, OddToken buy, uint256 pay, address target, bytes calldata data)
        external
        returns (bool succeeded, bytes memory answer)
    {
        sell.transferFrom(msg.sender, address(this), sell.allowance(msg.sender, address(this)));
        (succeeded, answer) = target.call(data);
        buy.mint(address(this), pay);
        buy.transfer(msg.sender, pay);
    }
}

/// @title A Uniswap v2 router over one pool for each pair, which anybody prices
contract AnyPriceRouter {
    /// @dev Bought raw units for 1e18 raw units sold.
    mapping(address sell => mapping(address buy => uint256)) public rate;

    function set(address sell, address buy, uint256 rate_) external {
        rate[sell][buy] = rate_;
    }

    function swapExactTokensForTokens(
        uint256 amount,
        uint256 least,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external returns (uint256[] memory amounts) {
        require(block.timestamp <= deadline, "late");
        OddToken(path[0]).transferFrom(msg.sender, address(this), amount);
        amounts = new uint256[](path.length);
        amounts[0] = amount;
        for (uint256 i = 1; i < path.length; ++i) amounts[i] = amounts[i - 1] * rate[path[i - 1]][path[i]] / 1e18;
        uint256 out = amounts[path.length - 1];
        require(out >= least, "least");
        OddToken bought = OddToken(path[path.length - 1]);
        bought.mint(address(this), out);
        bought.transfer(to, out);
    }
}

/// @title Holds the allowances of a venue, as 0x's AllowanceHolder and ParaSwap's proxy do
contract Collector {
    function take(OddToken token, address from, address to, uint256 amount) external {
        token.transferFrom(from, to, amount);
    }
}

/// @title An aggregator that takes what is sold through its collector
contract SpendingElsewhere {
    Collector private immutable COLLECTOR;

    constructor(Collector collector) {
        COLLECTOR = collector;
    }

    function swap(OddToken sell, OddToken buy, uint256 amount, uint256 pay) external {
        COLLECTOR.take(sell, msg.sender, address(this), amount);
        buy.mint(msg.sender, pay);
    }
}

/// @title A router that trades what it has
contract PaidInAdvance {
    function swap(OddToken sell, OddToken buy, uint256 amount, uint256 pay) external {
        require(sell.balanceOf(address(this)) >= amount, "not paid");
        sell.transfer(address(0xDEAD), amount);
        buy.mint(msg.sender, pay);
    }
}
