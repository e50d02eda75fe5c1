/*-------------------------------------------------------------------------
 *
 * test_bytes.c
 *		cuckoo_bytes.h and cuckoo_status.c.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

static void
loads_and_stores(void)
{
	uint8_t		bytes[8 + 9 + 8];

	for (int offset = 0; offset < 9; offset++)
	{
		for (int i = 0; i < 1000; i++)
		{
			const uint64_t value = test_random_shifted(0, 63);

			memset(bytes, 0xAA, sizeof(bytes));
			cuckoo_store_le64(bytes + 8 + offset, value);
			for (int j = 0; j < 8; j++)
				CHECK_EQUAL(bytes[8 + offset + j], value >> (8 * j) & 0xFF);
			CHECK_EQUAL(bytes[7 + offset], 0xAA);
			if (offset < 8)
				CHECK_EQUAL(bytes[16 + offset], 0xAA);
			CHECK_EQUAL(cuckoo_load_le64(bytes + 8 + offset), value);
			CHECK_EQUAL(cuckoo_load_le16(bytes + 8 + offset), value & 0xFFFF);

			memset(bytes, 0x55, sizeof(bytes));
			cuckoo_store_le16(bytes + 8 + offset, (uint16_t) value);
			CHECK_EQUAL(bytes[7 + offset], 0x55);
			CHECK_EQUAL(bytes[8 + offset], value & 0xFF);
			CHECK_EQUAL(bytes[9 + offset], value >> 8 & 0xFF);
			CHECK_EQUAL(bytes[10 + offset], 0x55);
		}
	}
}

static void
low_bits(void)
{
	uint64_t	expected = 0;

	for (int nbits = 0; nbits <= 63; nbits++)
	{
		CHECK_EQUAL(cuckoo_low_bits(nbits), expected);
		expected = expected * 2 + 1;
	}
}

/* Every status has a reason of its own that fits the middle of a message. */
static void
status_reasons(void)
{
	for (int i = CUCKOO_OK; i <= CUCKOO_BAD_COPIES; i++)
	{
		const char *const reason = cuckoo_status_reason((CuckooStatus) i);

		WHERE("status %" PRIu64, i, 0, 0, 0);
		CHECK(reason != NULL && reason[0] != '\0');
		CHECK(strcmp(reason, "unknown status") != 0);
		CHECK(reason[0] >= 'a' && reason[0] <= 'z');
		CHECK(reason[strlen(reason) - 1] != '.');
		for (int j = CUCKOO_OK; j < i; j++)
			CHECK(strcmp(reason, cuckoo_status_reason((CuckooStatus) j)) != 0);
	}
}

static const TestCase cases[] = {
	{"loads_and_stores", loads_and_stores},
	{"low_bits", low_bits},
	{"status_reasons", status_reasons},
};

TEST_MAIN(cases)
