# The corpus of a fuzz target is an archive of files; see README.md.
#
# For the Makefiles that run targets: "fuzz" is this folder, BUILD that of what
# is made, and $(BUILD)/corpus/fuzz_image the folder of that target's inputs.

$(BUILD)/corpus/fuzz_%: $(fuzz)/corpus/fuzz_%.tar
	@rm -rf $@
	@mkdir -p $@
	@tar -xf $< -C $@
	@touch $@
