"""The names of the inner modules of Numba 0.68.1; a / stands behind packages.

Written by tests/tools/read_numba_names.py."""
NAMES = """
core/:
core.analysis: _dead_maps_result _fix_loop_exit _use_defs_result compute_cfg_from_blocks compute_dead_maps
    compute_live_map compute_live_variables compute_use_defs dead_branch_prune find_literally_calls find_top_level_loops
    ir_extension_use_alloca ir_extension_usedefs must_use_alloca nullified rewrite_semantic_constants
core.annotations/:
core.annotations.pretty_annotate: Annotate get_ansi_template get_html_template hllines htlines reform_code
core.annotations.type_annotations: SourceLines TypeAnnotation _getindent
core.base: BaseContext OverloadSelector _has_loc _initialize_llvm_lock_event _load_global_helpers _wrap_impl
    _wrap_missing_loc
core.boxing: _NumbaTypeHelper _native_set_to_python_list _python_list_to_native _python_set_to_native
    box_LiteralStrKeyDict box_array box_bool box_bytes box_charseq box_complex box_deferred box_dtype box_enum box_float
    box_generator box_integer box_list box_literal box_literal_integer box_meminfo_pointer box_namedtuple box_none
    box_number_class box_numpy_random_generator box_optional box_pyobject box_raw_pointer box_record box_set
    box_slice_literal box_tuple box_undefvar box_unicodecharseq box_unsupported reflect_list reflect_set unbox_array
    unbox_boolean unbox_buffer unbox_charseq unbox_complex unbox_deferred unbox_dispatcher unbox_dtype unbox_enum
    unbox_float unbox_funcptr unbox_generator unbox_integer unbox_list unbox_meminfo_pointer unbox_none
    unbox_number_class unbox_numpy_random_bitgenerator unbox_numpy_random_generator unbox_optional unbox_pyobject
    unbox_record unbox_set unbox_slice unbox_string_literal unbox_tuple unbox_typeref unbox_unicodecharseq
    unbox_unsupported
core.bytecode: ARG_LEN ByteCode ByteCodeInst ByteCodeIter ByteCodePy311 ByteCodePy312 CODE_LEN EXTENDED_ARG
    FunctionIdentity HAVE_ARGUMENT INSTR_LEN JABS_OPS JREL_OPS JUMP_OPS NO_ARG_LEN OPCODE_NOP PYVERSION TERM_OPS
    _ByteCode _ExceptionTableEntry _as_opcodes _fix_LOAD_GLOBAL_arg _patched_opargs _unpack_opargs get_code_object
    get_function_object opcode_info
core.byteflow: ALL_BINOPS_TO_OPERATORS AdaptBlockInfo AdaptCFA AdaptCFBlock AdaptDFA BlockKind
    CALL_INTRINSIC_1_Operand Edge Flow NEW_BLOCKERS PYVERSION State StatePy311 StatePy313 TraceRunner _State
    _flatten_inst_regs _is_null_temp_reg adapt_state_infos ci1op
core.caching: Cache CacheImpl CodeLibraryCacheImpl CompileResultCacheImpl FunctionCache IPythonCacheLocator
    InTreeCacheLocator InTreeCacheLocatorFsAgnostic IndexDataCacheFile NullCache UserProvidedCacheLocator
    UserWideCacheLocator ZipCacheLocator _Cache _CacheLocator _SourceFileBackedLocatorMixin _cache_log _hash_source_file
    _hash_zipped_source_file make_library_cache
core.callconv: ALLOC_FLAG_IDX BaseCallConv CPUCallConv ErrorModel FIRST_USEREXC HASH_BUF_IDX MinimalCallConv
    NumpyErrorModel PICKLE_BUFSZ_IDX PICKLE_BUF_IDX PythonErrorModel Status TryStatus UNWRAP_FUNC_IDX _MinimalCallHelper
    _const_int create_error_model error_models
core.callwrapper: PyCallWrapper _ArgManager _GilManager
core.ccallback: CFunc _CFuncCompiler
core.cgutils: voidptr_t bool_t false_bit false_byte int32_t int8_t intp_t true_bit true_byte DataStructProxy Loop Structure ValueStructProxy _StructProxy _loop_nest _raw_memcpy
    _scalar_pred_against_zero add_global_variable alloca_once alloca_once_value as_bool_bit cbranch_or_continue
    copy_struct create_constant_array create_struct_proxy divmod_by_constant do_boundscheck early_exit_if
    early_exit_if_null for_range for_range_slice for_range_slice_generic gep gep_inbounds get_item_pointer
    get_item_pointer2 get_null_value get_or_insert_function get_or_insert_named_metadata get_record_member
    global_constant guard_memory_error guard_null guard_zero hexdump if_likely if_unlikely if_zero ifnot increment_index
    insert_pure_function is_empty_tuple is_false is_neg_int is_nonelike is_not_null is_not_scalar_zero is_null
    is_pointer is_scalar_neg is_scalar_zero is_scalar_zero_or_nan is_true loop_nest make_anonymous_struct make_bytearray
    memcpy memset memset_padding muladd_with_overflow normalize_ir_text pack_array pack_struct pointer_add printf
    raw_memcpy raw_memmove sizeof snprintf snprintf_stackbuffer terminate unpack_tuple
core.codegen: AOTCPUCodegen AOTCodeLibrary CPUCodeLibrary CPUCodegen CodeLibrary Codegen JITCPUCodegen
    JITCodeLibrary JitEngine RuntimeLinker _CFG _is_x86 _parse_refprune_flags _proxy dump get_host_cpu_features
    initialize_llvm
core.compiler: CR_FIELDS CompileResult Compiler CompilerBase DEFAULT_FLAGS DefaultPassBuilder Flags StateDict
    _CompileStatus _EarlyPipelineCompletion _LowerResult _make_subtarget compile_extra compile_internal compile_ir
    compile_result run_frontend sanitize_compile_result_entries
core.compiler_lock: _CompilerLock global_compiler_lock require_global_compiler_lock
core.compiler_machinery: AnalysisPass AnalysisUsage CompilerPass FunctionPass LoweringPass PassManager
    SSACompliantMixin SimpleTimer _pass_registry debug_print pass_info pass_timings register_pass
core.config: ALWAYS_WARN_UNINIT_VAR ANNOTATE BOUNDSCHECK CACHE_DIR CACHE_LOCATOR_CLASSES CHROME_TRACE COLOR_SCHEME
    CPU_FEATURES CPU_NAME CUDA_ARRAY_INTERFACE_SYNC CUDA_DEALLOCS_COUNT CUDA_DEALLOCS_RATIO CUDA_DEBUGINFO_DEFAULT
    CUDA_DEFAULT_PTX_CC CUDA_DRIVER CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY CUDA_INCLUDE_PATH CUDA_LOG_API_ARGS
    CUDA_LOG_LEVEL CUDA_LOG_SIZE CUDA_LOW_OCCUPANCY_WARNINGS CUDA_MEMORY_MANAGER CUDA_PER_THREAD_DEFAULT_STREAM
    CUDA_USE_NVIDIA_BINDING CUDA_VERBOSE_JIT_LOG CUDA_WARN_ON_IMPLICIT_COPY DEBUG DEBUGINFO_DEFAULT DEBUG_ARRAY_OPT
    DEBUG_ARRAY_OPT_RUNTIME DEBUG_ARRAY_OPT_STATS DEBUG_CACHE DEBUG_FRONTEND DEBUG_INLINE_CLOSURE DEBUG_JIT DEBUG_NRT
    DEBUG_NRT_STACK_LIMIT DEBUG_PRINT_AFTER DEBUG_PRINT_BEFORE DEBUG_PRINT_WRAP DEBUG_TYPEINFER DEVELOPER_MODE DIFF_IR
    DISABLE_CUDA DISABLE_INTEL_SVML DISABLE_JIT DISABLE_PERFORMANCE_WARNINGS DISABLE_TYPEINFER_FAIL_CACHE DUMP_ASSEMBLY
    DUMP_BYTECODE DUMP_CFG DUMP_FUNC_OPT DUMP_IR DUMP_LLVM DUMP_OPTIMIZED DUMP_SSA ENABLE_AVX ENABLE_CUDASIM
    ENABLE_PROFILING ENABLE_SYS_MONITORING EXTEND_VARIABLE_LIFETIMES FORCE_CUDA_CC FULL_TRACEBACKS FUNCTION_CACHE_SIZE
    GDB_BINARY HIGHLIGHT_DUMPS HTML IS_32BITS IS_OSX IS_WIN32 JIT_COVERAGE LLVM_PASS_TIMINGS LLVM_REFPRUNE_FLAGS
    LLVM_REFPRUNE_PASS LOOP_VECTORIZE MACHINE_BITS NRT_STATS NUMBA_DEFAULT_NUM_THREADS NUMBA_NUM_THREADS OPT
    PARALLEL_DIAGNOSTICS PARFOR_MAX_TUPLE_SIZE PYVERSION RUNNING_UNDER_PROFILER SHOW_HELP SLP_VECTORIZE THREADING_LAYER
    THREADING_LAYER_PRIORITY TRACE USE_LLVMLITE_MEMORY_MANAGER USING_SVML _EnvReloader _OptLevel _env_reloader
    _os_supports_avx _parse_cc _process_opt_level reload_config
core.consts: ConstantInference
core.controlflow: CFBlock CFGraph ControlFlowAnalysis Loop NEW_BLOCKERS PYVERSION _DictOfContainers
core.cpu: CPUContext CPUTargetOptions ClosureBody EnvBody
core.cpu_options: AbstractOptionValue FastMathOptions InlineOptions ParallelOptions
core.datamodel/: ArgPacker CompositeModel DataModelManager DataPacker PrimitiveModel StructModel default_manager
    register
core.datamodel.manager: DataModelManager
core.datamodel.models: ArrayCTypesModel ArrayFlagsModel ArrayIterator ArrayModel BooleanModel CContiguousFlatIter
    CharSeq ComplexModel CompositeModel DataModel DeferredStructModel EnumModel EnumerateType EphemeralArrayModel
    EphemeralPointerModel ExternalFuncPointerModel FlatIter FloatModel GeneratorModel IntegerModel ListIterModel
    ListModel ListPayloadModel MemInfoModel NdIndexModel NdIter NestedArrayModel OmittedArgDataModel OpaqueModel
    OptionalModel PairModel PointerModel PrimitiveModel ProxyModel RangeIteratorType RangeModel RecordModel
    SetEntryModel SetIterModel SetModel SetPayloadModel SliceModel StructModel StructPayloadModel StructRefModel
    TupleModel UniTupleIter UniTupleModel UnicodeCharSeq UnionModel ZipType handle_bound_function handle_numpy_flat_type
    handle_numpy_ndenumerate_type
core.datamodel.packer: ArgPacker DataPacker _Unflattener _flatten
core.datamodel.registry: register
core.datamodel.testing: DataModelTester DataModelTester_NotSupportAsDataMixin DataModelTester_SupportAsDataMixin
    NotSupportAsDataMixin SupportAsDataMixin test_factory
core.debuginfo: AbstractDIBuilder DIBuilder DummyDIBuilder suspend_emission
core.decorators: _jit cfunc jit jit_module njit
core.descriptors: TargetDescriptor
core.dispatcher: CompilingCounter Dispatcher LiftedCode LiftedLoop LiftedWith ObjModeLiftedWith OmittedArg
    _CompileStats _DispatcherBase _FunctionCompiler _GeneratedFunctionCompiler _MemoMixin
core.entrypoints: init_all
core.environment: Environment _rebuild_env lookup_environment
core.errors: ByteCodeSupportError CompilerError ConstantInferenceError DeprecationError ForbiddenConstruct
    ForceLiteralArg IRError InternalError InternalTargetMismatchError LiteralTypingError LoweringError NOPColorScheme
    NonexistentTargetError NotDefinedError NumbaAssertionError NumbaAttributeError NumbaDebugInfoWarning
    NumbaDeprecationWarning NumbaError NumbaExperimentalFeatureWarning NumbaIRAssumptionWarning NumbaIndexError
    NumbaInvalidConfigWarning NumbaKeyError NumbaNotImplementedError NumbaParallelSafetyWarning NumbaPedanticWarning
    NumbaPendingDeprecationWarning NumbaPerformanceWarning NumbaRuntimeError NumbaSystemWarning NumbaTypeError
    NumbaTypeSafetyWarning NumbaValueError NumbaWarning RedefinedError RequireLiteralValue TypingError
    UnsupportedBytecodeError UnsupportedError UnsupportedParforsError UnsupportedRewriteError UntypedAttributeError
    VerificationError WarningsFixer _ColorScheme _DummyColorScheme _format_msg _is_numba_core_config_loaded
    _termcolor_inst constant_inference_info deprecated error_extras feedback_details interpreter_error_info loc_info
    new_error_context pedantic_warning_info reportable_issue_info termcolor typing_error_info unsupported_error_info
core.event: Event EventStatus Listener RecordingListener TimingListener _guard_kind _prepare_chrome_trace_data
    _setup_chrome_trace_exit_handler broadcast end_event install_listener install_recorder install_timer register
    start_event trigger_event unregister
core.extending: BoundLiteralArgs SentryLiteralArgs _Intrinsic _overload_method_common get_cython_function_address
    include_path intrinsic is_jitted make_attribute_wrapper overload overload_attribute overload_classmethod
    overload_method register_jitable sentry_literal_args type_callable
core.externals: _ExternalMathFunctions _Installer _add_missing_symbol _get_msvcrt_symbol c_math_functions
    compile_multi3
core.fastmathpass: FastFloatBinOpVisitor FastFloatCallVisitor rewrite_module
core.funcdesc: ExternalFunctionDescriptor FunctionDescriptor PythonFunctionDescriptor default_mangler
    qualifying_prefix
core.generators: BaseGeneratorLower GeneratorDescriptor GeneratorLower LowerYield PyGeneratorLower
core.imputils: RefType Registry RegistryLoader _ForIterLoop _IternextResult _decorate_getattr _decorate_setattr
    builtin_registry call_getiter call_iternext call_len fix_returning_optional for_iter force_error_model
    impl_ret_borrowed impl_ret_new_ref impl_ret_untracked iterator_impl iternext_impl lower_builtin lower_cast
    lower_constant lower_getattr lower_getattr_generic lower_setattr lower_setattr_generic numba_typeref_ctor
    user_function user_generator
core.inline_closurecall: InlineClosureCallPass InlineWorker RewriteArrayOfConsts _add_definitions
    _created_inlined_var_name _debug_dump _find_arraycall _find_iter_range _find_unsafe_empty_inferred _fix_nested_array
    _get_all_scopes _get_callee_args _inline_arraycall _inline_const_arraycall _make_debug_print _new_definition
    _replace_args_with _replace_freevars _replace_returns callee_ir_validator check_reduce_func enable_inline_arraycall
    inline_closure_call length_of_iterator range_impl_map
core.interpreter: Assigner BINOPS_TO_OPERATORS INPLACE_BINOPS_TO_OPERATORS INTRINSIC_STOPITERATION_ERROR Interpreter
    PYVERSION _UNKNOWN_VALUE _build_new_build_map _call_function_ex_replace_args_large
    _call_function_ex_replace_args_small _call_function_ex_replace_kws_large _call_function_ex_replace_kws_small
    _remove_assignment_definition error_extras peep_hole_call_function_ex_to_call_function_kw peep_hole_delete_with_exit
    peep_hole_fuse_dict_add_updates peep_hole_list_to_tuple peep_hole_split_at_pop_block
core.intrinsics: INTR_MATH INTR_TO_CMATH OTHER_CMATHS _DivmodFixer fix_divmod
core.ir: AbstractRHS Arg Assign BINOPS_TO_OPERATORS Block Branch Const Del DelAttr DelItem DynamicRaise
    DynamicTryRaise EnterWith EqualityCheckMixin Expr FreeVar FunctionIR Global INPLACE_BINOPS_TO_OPERATORS Inst Jump
    Loc Loop OPERATORS_TO_BUILTINS PopBlock Print Raise Return Scope SetAttr SetItem SlotEqualityCheckMixin StaticRaise
    StaticSetItem StaticTryRaise Stmt StoreMap Terminator TryRaise UNARY_BUITINS_TO_OPERATORS UNDEFINED UndefinedType
    Var VarMap With Yield unknown_loc
core.ir_utils: GuardException _add_alias _create_function_from_code_obj _mk_range_args _the_max_label
    add_offset_to_labels add_offset_to_labels_extensions alias_analysis_extensions alias_func_extensions
    apply_copy_propagate apply_copy_propagate_extensions arr_math array_accesses_extensions build_definitions
    build_defs_extensions call_table_extensions canonicalize_array_math check_and_legalize_ir compile_to_numba_ir
    convert_code_obj_to_function convert_size_to_var copy_propagate copy_propagate_extensions dead_code_elimination
    dprint_func_ir dump_block dump_blocks enforce_no_dels enforce_no_phis fill_block_with_call fill_callee_epilogue
    fill_callee_prologue find_build_sequence find_callname find_const find_max_label find_max_label_extensions
    find_outer_value find_potential_aliases find_topo_order fix_setitem_type fixup_var_define_in_scope flatten_labels
    gen_np_call get_array_accesses get_block_copies get_call_table get_canonical_alias get_definition
    get_global_func_typ get_ir_of_code get_name_var_table get_np_ufunc_typ get_stmt_writes get_tuple_table
    get_unused_var_name guard has_no_side_effect index_var_of_get_setitem init_copy_propagate_data is_const_call
    is_get_setitem is_getitem is_immutable_type is_namedtuple_class is_operator_or_getitem is_pop_block is_pure
    is_pure_extensions is_raise is_return is_setitem is_setup_with is_slice_index is_terminator legalize_names
    legalize_single_scope merge_adjacent_blocks mk_loop_header mk_range_block mk_unique_var next_label
    raise_on_unsupported_feature remove_args remove_call_handlers remove_dead remove_dead_block remove_dead_extensions
    remove_dead_random_call remove_dels rename_labels replace_arg_nodes replace_returns replace_var_callback
    replace_var_names replace_vars replace_vars_inner replace_vars_stmt require resolve_func_from_module
    restore_copy_var_names set_index_var_of_get_setitem simplify simplify_CFG transfer_scope tuple_table_extensions
    visit_vars visit_vars_extensions visit_vars_inner visit_vars_stmt warn_deprecated
core.itanium_mangler: N2CODE PREFIX _escape_string _fix_lead_digit _len_encoded _split_mangled_ident mangle
    mangle_abi_tag mangle_args mangle_identifier mangle_templated_ident mangle_type mangle_type_or_value mangle_value
    prepend_namespace
core.llvm_bindings: _inlining_threshold create_pass_builder
core.lowering: BaseLower Lower _VarArgItem _lit_or_omitted
core.object_mode_passes: ObjectModeBackEnd ObjectModeFrontEnd
core.optional: always_return_false_impl always_return_true_impl any_to_optional optional_getattr optional_is_none
    optional_setattr optional_to_any optional_to_optional
core.options: DefaultOptions TargetOptions _mapping include_default_options
core.postproc: GeneratorInfo PostProcessor VariableLifetime YieldPoint ir_extension_insert_dels
core.pylowering: PYTHON_BINOPMAP PYTHON_COMPAREOPMAP PyLower _UNDEFINED _Undefined
core.pythonapi: EnvironmentManager NativeValue ObjModeUtils PY_UNICODE_1BYTE_KIND PY_UNICODE_2BYTE_KIND
    PY_UNICODE_4BYTE_KIND PythonAPI _BoxContext _IteratorLoop _ReflectContext _Registry _UnboxContext _boxers
    _reflectors _unboxers box reflect unbox
core.registry: CPUDispatcher CPUTarget DelayedRegistry cpu_target
core.runtime/: rtsys
core.runtime._nrt_python: c_helpers meminfo_alloc meminfo_alloc_safe meminfo_new memsys_disable_stats
    memsys_enable_stats memsys_get_stats_alloc memsys_get_stats_free memsys_get_stats_mi_alloc memsys_get_stats_mi_free
    memsys_shutdown memsys_stats_enabled memsys_use_cpython_allocator
core.runtime.context: NRTContext PYVERSION _NRT_MEMINFO_DEFAULT_API _NRT_MEMINFO_SAFE_API _NRT_Meminfo_Functions
core.runtime.nrt: _nrt_mstats rtsys typeof_meminfo
core.runtime.nrtdynmod: _define_atomic_cas _define_atomic_inc_dec _define_nrt_decref _define_nrt_incref
    _define_nrt_meminfo_data _define_nrt_unresolved_abort compile_nrt_functions create_nrt_module print_nrt_stack
core.runtime.nrtopt: _remove_redundant_nrt_refct remove_redundant_nrt_refct
core.serialize: NumbaPickler PickleCallableByPath ReduceMixin _CustomPickled _custom_reduce__custompickled
    _no_pickle _numba_unpickle _pickle__CustomPickled _rebuild_reduction _unpickle__CustomPickled custom_rebuild
    custom_reduce disable_pickling dumps is_serializable runtime_build_excinfo_struct
core.sigutils: _parse_signature_string is_signature normalize_signature
core.ssa: UndefinedVariable _BaseHandler _CacheListVars _FixSSAVars _FreshVarHandler _GatherDefsHandler
    _compute_phi_locations _find_defs_violators _fix_ssa_vars _fresh_vars _get_scope _iterated_domfronts _make_states
    _run_block_analysis _run_block_rewrite _run_ssa _run_ssa_block_pass _warn_about_uninitialized_variable
    reconstruct_ssa
core.target_extension: CPU CUDA GPU Generic JitDecorator NPyUfunc Target _TargetRegistry _get_local_target_checked
    cpu_target current_target get_local_target resolve_dispatcher_from_str resolve_target_str target_override
    target_registry
core.targetconfig: ConfigStack Option TargetConfig _FlagsStack _MetaTargetConfig _NotSet _NotSetType
core.tracing: TLS chop create_events doevent dotrace event find_function_info noevent notrace tls trace
core.transforms: PYVERSION _cfg_nodes_in_region _eliminate_nested_withs _extract_loop_lifting_candidates
    _fix_multi_exit_blocks _get_with_contextmanager _has_multiple_loop_exits _legalize_with_head
    _loop_lift_get_candidate_infos _loop_lift_info _loop_lift_modify_blocks _loop_lift_modify_call_block
    _loop_lift_prepare_loop_func _pre_looplift_transform _rewrite_return canonicalize_cfg
    canonicalize_cfg_single_backedge consolidate_multi_exit_withs find_region_inout_vars find_setupwiths loop_lifting
    with_lifting
core.typeconv/: Conversion
core.typeconv._typeconv: check_compatible get_pointer new_type_manager select_overload set_compatible
core.typeconv.castgraph: CastSet Conversion TypeGraph
core.typeconv.rules: _init_casting_rules dump_number_rules
core.typeconv.typeconv: TypeCastingRules TypeManager
core.typed_passes: AnnotateTypes BaseNativeLowering BaseTypeInference DeadCodeElimination DumpParforDiagnostics
    IRLegalization InlineOverloads NativeLowering NativeParforLowering NoPythonBackend
    NoPythonSupportedFeatureValidation NopythonRewrites NopythonTypeInference ParforFusionPass ParforPass
    ParforPreLoweringPass PartialTypeInference PreLowerStripPhis PreParforPass _TypingResults _reload_parfors
    fallback_context type_inference_stage
core.typeinfer: ArgConstraint BuildListConstraint BuildMapConstraint BuildSetConstraint BuildTupleConstraint
    CallConstraint ConstraintNetwork DelItemConstraint ExhaustIterConstraint GetAttrConstraint IntrinsicCallConstraint
    NOTSET NullDebug PairFirstConstraint PairSecondConstraint PrintConstraint Propagate SetAttrConstraint
    SetItemConstraint SetItemRefinement StaticGetItemConstraint StaticSetItemConstraint TypeInferDebug TypeInferer
    TypeVar TypeVarMap TypedGetItemConstraint _BuildContainerConstraint _is_array_not_precise fold_arg_vars
    register_dispatcher typeinfer_extensions
core.typing/: BaseContext Context Signature fold_arguments make_concrete_template signature
core.typing.arraydecl:
core.typing.asnumbatype: AsNumbaTypeRegistry PYVERSION as_numba_type
core.typing.bufproto: decode_pep3118_format get_type_class infer_layout
core.typing.builtins: Abs BinOp BinOpAdd BinOpFloorDiv BinOpMod BinOpMul BinOpPower BinOpSub BinOpTrueDiv BitwiseAnd
    BitwiseInvert BitwiseLeftShift BitwiseLogicOperation BitwiseOr BitwiseRightShift BitwiseShiftOperation BitwiseXor
    Bool BooleanAttribute CmpOpEq CmpOpGe CmpOpGt CmpOpIdentity CmpOpIs CmpOpIsNot CmpOpLe CmpOpLt CmpOpNe Complex
    ConstOpEq ConstOpNotEq Contains DeferredAttribute DivMod Enumerate Float GenericNotIn GetItemCPointer GetIter
    IndexValue IndexValueModel IndexValueType Iter IterNext Len MemoryViewAttribute Next NumberAttribute
    NumberClassAttribute OptionalAttribute OrderedCmpOp PairFirst PairSecond PowerBuiltin Print PrintItem Range Round
    SetItemCPointer Slice SliceAttribute StaticGetItemClass StaticGetItemLiteralList StaticGetItemLiteralStrKeyDict
    StaticGetItemTuple TupleAdd TupleBool TupleCompare TupleConstructor TupleEq TupleGe TupleGt TupleLe TupleLt TupleNe
    TypeBuiltin TypeRefAttribute UnaryNegate UnaryNot UnaryOp UnaryPositive UnorderedCmpOp Zip choose_result_bitwidth
    choose_result_int integer_binop_cases machine_ints normalize_1d_index type_index_value typeof_index
core.typing.cffi_utils: FFIAttribute FFI_from_buffer SUPPORTED _type_map ffi get_pointer is_cffi_func
    is_ffi_instance make_function_type map_struct_to_record_dtype map_type register_module register_type
core.typing.cmathdecl:
core.typing.collections: ContainerLen DelItemSequence GetItemSequence InContainer NamedTupleAttribute
    NamedTupleClassAttribute SequenceBool SetItemSequence
core.typing.context: BaseContext CallFrame CallStack Context Rating _ResolveCache
core.typing.ctypes_utils: from_ctypes get_pointer is_ctypes_funcptr make_function_type to_ctypes
core.typing.dictdecl:
core.typing.enumdecl:
core.typing.listdecl:
core.typing.mathdecl:
core.typing.npydecl:
core.typing.setdecl:
core.typing.templates: AbstractTemplate AttributeTemplate BaseRegistryLoader CallableTemplate ConcreteTemplate
    FunctionTemplate Registry RegistryLoader Signature _EmptyImplementationEntry _IntrinsicTemplate
    _OverloadAttributeTemplate _OverloadFunctionTemplate _OverloadMethodTemplate _TemplateTargetHelperMixin _inline_info
    bound_function builtin_registry fold_arguments infer infer_getattr infer_global make_callable_template
    make_concrete_template make_intrinsic_template make_overload_attribute_template make_overload_method_template
    make_overload_template signature
core.typing.typeof: Purpose _TypeofContext _typeof_bool _typeof_buffer _typeof_code _typeof_complex
    _typeof_ctypes_function _typeof_dtype _typeof_ellipsis _typeof_enum _typeof_enum_class _typeof_float _typeof_int
    _typeof_list _typeof_literal _typeof_nb_type _typeof_ndarray _typeof_none _typeof_number_class _typeof_numpy_scalar
    _typeof_set _typeof_slice _typeof_str _typeof_tuple _typeof_type _typeof_typeref typeof typeof_impl
    typeof_numpy_polynomial typeof_numpy_random_bitgen typeof_random_generator
core.unsafe/:
core.unsafe.bytes: grab_byte grab_uint64_t memcpy_region
core.unsafe.eh: end_try_block exception_check exception_match mark_try_block
core.unsafe.nrt: NRT_get_api
core.unsafe.refcount: dump_refcount get_refcount
core.untyped_passes: CanonicalizeLoopEntry CanonicalizeLoopExit DeadBranchPrune ExtractByteCode FindLiterallyCalls
    FixupArgs GenericRewrites IRProcessing InlineClosureLikes InlineInlinables IterLoopCanonicalization
    LiteralPropagationSubPipelinePass LiteralUnroll MakeFunctionToJitFunction MixedContainerUnroller PreserveIR
    PrintIRCFG PropagateLiterals ReconstructSSA RewriteDynamicRaises RewriteSemanticConstants SimplifyCFG
    TransformLiteralUnrollConstListToTuple TranslateByteCode WithLifting fallback_context
core.utils: ALL_BINOPS_TO_OPERATORS BINOPS_TO_OPERATORS BenchmarkResult ConfigOptions DEVELOPER_MODE
    INPLACE_BINOPS_TO_OPERATORS MACHINE_BITS MutableSortedMap MutableSortedSet OPERATORS_TO_BUILTINS OrderedSet
    PYVERSION SortedMap T ThreadLocalStack Tk Tv UNARY_BUITINS_TO_OPERATORS UniqueDict _LazyJSONEncoder
    _RedirectSubpackage _at_shutdown _lazy_pformat benchmark bit_length chain_exception dump_llvm erase_traceback
    format_time get_hashable_key get_nargs_range order_by_target_specificity runonce safe_relpath shutting_down
    stream_list threadsafe_cached_property unified_function_type unify_function_types
core.withcontexts: WithContext _ByPassContextType _CallContextType _ObjModeContextType _ParallelChunksize
    _bypass_with_context _clear_blocks _get_var_parent _mutate_with_block_callee _mutate_with_block_caller
    bypass_context call_context objmode_context parallel_chunksize typeof_contextmanager
cpython/:
cpython._binomial: make_binomial_btpe
cpython.builtins: _getattr_default _getattr_default_type _getattr_raise_attr_exc _round_intrinsic any_to_deferred
    bool_is_impl bool_none bool_sequence boolval_max boolval_min cast_int complex_impl const_eq_impl const_ne_impl
    constant_dummy constant_function_pointer constant_optional constsized_len deferred_getattr deferred_to_any do_minmax
    float_impl float_literal_impl gen_non_eq generic_is generic_is_not getitem_cpointer greater_than impl_index_value
    indval_max indval_min iter_impl iterable_max iterable_min less_than lower_empty_tuple lower_tuple max_vararg
    min_max_impl min_vararg next_impl not_in number_constructor ol__getattr_raise_attr_exc ol_filter ol_getattr_2
    ol_getattr_3 ol_hasattr ol_int ol_isinstance ol_map ol_max ol_min ol_repr_generic ol_str_generic ol_sum ol_truth
    opaque_is redirect_type_ctor resolve_getattr resolve_hasattr round_impl_binary round_impl_unary setitem_cpointer
    sized_bool type_impl
cpython.charseq: _get_code_impl _is_bytes _make_constant_bytes _map_bytes _same_kind _unicode_to_bytes
    bytes_get_code bytes_to_charseq charseq_bytes charseq_concat charseq_contains charseq_eq charseq_ge charseq_get_code
    charseq_get_kind charseq_get_value charseq_getitem charseq_gt charseq_hash charseq_isascii charseq_isupper
    charseq_le charseq_len charseq_lt charseq_ne charseq_not charseq_repeat charseq_str charseq_to_bytes
    charseq_to_str_mth charseq_upper deref_uint16 deref_uint32 deref_uint8 is_default make_deref_codegen
    unicode_byte_width unicode_charseq_center unicode_charseq_endswith unicode_charseq_find unicode_charseq_get_code
    unicode_charseq_get_value unicode_charseq_hash unicode_charseq_isupper unicode_charseq_join unicode_charseq_ljust
    unicode_charseq_lstrip unicode_charseq_rfind unicode_charseq_rjust unicode_charseq_rstrip unicode_charseq_split
    unicode_charseq_startswith unicode_charseq_strip unicode_charseq_upper unicode_charseq_zfill unicode_get_code
    unicode_to_bytes_cast unicode_to_bytes_mth unicode_to_unicode_charseq
cpython.cmathimpl:
cpython.enumimpl:
cpython.hashing: DJBX33A EXPAT FNV SIPHASH _DOUBLE_ROUND _HALF_ROUND _PyHASH_XXROTATE _Py_HashBytes _Py_HashDouble
    _Py_HashSecret_t _ROTATE _SINGLE_ROUND _build_hashsecret _defer_hash _fpext _gen_siphash _hashsecret_entry
    _impl_load_hashsecret _inject_hashsecret_read _load_hashsecret _long_impl _prng_random_hash _siphash13 _siphash24
    _siphasher _tuple_hash complex_hash float_hash hash_overload int_hash ol_defer_hash process_return tuple_hash
    unicode_hash
cpython.heapq: _heapify_max _heapreplace_max _siftdown _siftdown_max _siftup _siftup_max assert_heap_type
    assert_item_type_consistent_with_heap_type check_input_types heappush heappushpop heapreplace hq_heapify hq_heappop
    nlargest nsmallest reversed_range
cpython.iterators: iterator_getiter make_enumerate_object make_zip_object
cpython.listobj: ListInstance ListIterInstance ListPayloadAccessor _ListPayloadMixin _list_extend_list
    _sort_check_key _sort_check_reverse all_list build_list delitem_list delitem_list_index get_itemsize
    get_list_payload getitem_list getiter_list getslice_list gt impl_list_ge impl_list_gt impl_list_le impl_list_lt
    impl_list_ne in_seq intp_max list_add list_add_inplace list_append list_clear list_constructor
    list_constructor_iterable list_copy list_count list_eq list_extend list_index list_insert list_is list_len list_mul
    list_mul_inplace list_pop list_pop_integer list_remove list_reverse list_to_list literal_list_banned_append
    literal_list_banned_clear literal_list_banned_extend literal_list_banned_insert literal_list_banned_pop
    literal_list_banned_remove literal_list_banned_reverse literal_list_banned_sort literal_list_contains
    literal_list_copy literal_list_count literal_list_delitem literal_list_getitem literal_list_index literal_list_len
    literal_list_setitem literallist_to_literallist ol_list_sort ol_sorted sequence_bool sequence_truth setitem_list
    setitem_list_slice
cpython.mathimpl:
cpython.numbers: NAN _get_power_zerodiv_return _implement_bitwise_operators _implement_integer_operators
    _int_arith_flags _int_divmod_impl any_to_boolean bool_as_bool bool_negate_impl bool_unary_positive_impl
    boolean_to_any complex_abs_impl complex_add_impl complex_as_bool complex_conjugate_impl complex_div_impl
    complex_eq_impl complex_imag_impl complex_mul_impl complex_ne_impl complex_negate_impl complex_positive_impl
    complex_power_impl complex_real_impl complex_sub_impl complex_to_complex constant_complex constant_integer
    float_as_bool float_to_float float_to_integer int_abs_impl int_add_impl int_and_impl int_as_bool int_divmod
    int_divmod_impl int_divmod_signed int_eq_impl int_floordiv_impl int_invert_impl int_mul_impl int_ne_impl
    int_negate_impl int_or_impl int_positive_impl int_power_impl int_rem_impl int_sge_impl int_sgt_impl int_shl_impl
    int_shr_impl int_sign_impl int_signed_unsigned_cmp int_sle_impl int_slt_impl int_sub_impl int_truediv_impl
    int_uge_impl int_ugt_impl int_ule_impl int_ult_impl int_unsigned_signed_cmp int_xor_impl integer_to_float
    integer_to_integer integer_to_voidptr literal_int_to_boolean literal_int_to_number non_complex_to_complex
    number_item_impl number_not_impl real_abs_impl real_add_impl real_conjugate_impl real_div_impl real_divmod
    real_divmod_func_body real_divmod_impl real_eq_impl real_floordiv_impl real_ge_impl real_gt_impl real_imag_impl
    real_le_impl real_lt_impl real_mod_impl real_mul_impl real_ne_impl real_negate_impl real_positive_impl
    real_power_impl real_real_impl real_sign_impl real_sub_impl scalar_view static_power_impl uint_abs_impl
cpython.printimpl:
cpython.randomimpl:
cpython.rangeobj: attr impl_contains impl_contains_helper ix make_range_attr make_range_impl make_range_iterator
    range_impl_map range_to_range state_types
cpython.setobj: DEBUG_ALLOCS DELETED EMPTY FALLBACK LINEAR_PROBES MINSIZE SetInstance SetIterInstance SetLoop
    _SetPayload _get_hash_value_intrinsic _set_clear _set_copy _set_difference_update _set_discard _set_eq
    _set_intersection_update _set_isdisjoint _set_issubset _set_lt _set_pop _set_remove _set_symmetric_difference_update
    build_set check_all_set gen_operator_impl get_entry_size get_hash_value get_payload_struct getiter_set
    impl_set_difference in_set is_hash_deleted is_hash_empty is_hash_used ol_set_clear ol_set_copy ol_set_discard
    ol_set_pop ol_set_remove op_impl set_add set_constructor set_difference_update set_difference_update_impl
    set_empty_constructor set_eq set_gt set_intersection set_intersection_update set_intersection_update_impl set_is
    set_isdisjoint set_issubset set_issuperset set_len set_lt set_ne set_symmetric_difference
    set_symmetric_difference_update set_symmetric_difference_update_impl set_to_set set_union set_update
cpython.slicing: cast_from_literal constant_slice fix_index fix_slice fix_stride get_defaults get_slice_bounds
    get_slice_length guard_invalid_slice make_slice_from_constant slice_constructor_impl slice_indices slice_start_impl
    slice_step_impl slice_stop_impl
cpython.tupleobj: getitem_literal_idx getitem_typed getitem_unituple getiter_unituple in_seq_empty_tuple
    namedtuple_constructor namedtuple_getattr static_getitem_tuple tuple_add tuple_cmp_ordered tuple_constant tuple_eq
    tuple_ge tuple_gt tuple_index tuple_le tuple_lt tuple_ne tuple_to_tuple unituple_constant
cpython.unicode: PYVERSION PY_UNICODE_1BYTE_KIND PY_UNICODE_2BYTE_KIND PY_UNICODE_4BYTE_KIND UnicodeIteratorModel
    UnicodeModel _PyUnicode_FromOrdinal _adjust_indices _always_false _ascii_capitalize _ascii_casefold _ascii_is_upper
    _ascii_lower _ascii_splitlines _ascii_swapcase _ascii_title _ascii_upper _bloom_add _bloom_check _cmp_region
    _codepoint_is_ascii _codepoint_to_kind _count_args_types_check _default_find _default_rfind _empty_string _find
    _gen_ascii_upper_or_lower _gen_unicode_upper_or_lower _get_code_point _get_str_slice_view _handle_capital_sigma
    _is_upper _kind_to_byte_width _lower_ucs4 _malloc_string _normalize_slice _normalize_slice_idx_count _pick_ascii
    _pick_kind _repeat_impl _rfind _set_code_point _slice_span _strncpy _unicode_capitalize _unicode_casefold
    _unicode_char _unicode_is_alnum _unicode_is_upper _unicode_lower _unicode_splitlines _unicode_swapcase
    _unicode_title _unicode_upper ascii_rsplit_whitespace_impl boolean_str box_unicode_str c_helpers case_operation
    cast_from_literal compile_time_get_string_data constant_unicode deref_uint16 deref_uint32 deref_uint8 gen_isAlX
    gen_isX gen_unicode_Xjust generate_finder generate_rsplit_whitespace_impl generate_splitlines_func getiter_unicode
    integer_repr integer_str join_list make_deref_codegen make_set_codegen make_string_from_constant normalize_str_idx
    ol_chr ol_ord set_uint16 set_uint32 set_uint8 unbox_unicode_str unicode_capitalize unicode_casefold unicode_center
    unicode_concat unicode_contains unicode_count unicode_endswith unicode_eq unicode_expandtabs unicode_find unicode_ge
    unicode_getitem unicode_gt unicode_idx_check_type unicode_index unicode_isascii unicode_isidentifier unicode_islower
    unicode_istitle unicode_isupper unicode_join unicode_le unicode_len unicode_lower unicode_lstrip unicode_lt
    unicode_ne unicode_not unicode_partition unicode_repeat unicode_replace unicode_repr unicode_rfind unicode_rindex
    unicode_rpartition unicode_rsplit unicode_rsplit_whitespace_impl unicode_rstrip unicode_split unicode_splitlines
    unicode_startswith unicode_str unicode_strip unicode_strip_left_bound unicode_strip_right_bound
    unicode_strip_types_check unicode_sub_check_type unicode_swapcase unicode_title unicode_upper unicode_zfill
cpython.unicode_support: _PY_CTF _PY_CTF_LB _PyUnicode_ExtendedCase _PyUnicode_IsAlpha _PyUnicode_IsCaseIgnorable
    _PyUnicode_IsCased _PyUnicode_IsDecimalDigit _PyUnicode_IsDigit _PyUnicode_IsLineBreak _PyUnicode_IsLowercase
    _PyUnicode_IsNumeric _PyUnicode_IsPrintable _PyUnicode_IsSpace _PyUnicode_IsTitlecase _PyUnicode_IsUppercase
    _PyUnicode_IsXidContinue _PyUnicode_IsXidStart _PyUnicode_ToDecimalDigit _PyUnicode_ToDigit _PyUnicode_ToFoldedFull
    _PyUnicode_ToLowerFull _PyUnicode_ToLowercase _PyUnicode_ToTitleFull _PyUnicode_ToTitlecase _PyUnicode_ToUpperFull
    _PyUnicode_ToUppercase _PyUnicode_TyperecordMasks _PyUnicode_gettyperecord _Py_CHARMASK _Py_ISALNUM _Py_ISALPHA
    _Py_ISCARRIAGERETURN _Py_ISDIGIT _Py_ISLINEBREAK _Py_ISLINEFEED _Py_ISLOWER _Py_ISSPACE _Py_ISUPPER _Py_ISXDIGIT
    _Py_TOLOWER _Py_TOUPPER _gettyperecord_impl gettyperecord_impl typerecord
cpython.unsafe/:
cpython.unsafe.numbers: leading_zeros trailing_zeros viewer
cpython.unsafe.tuple: build_full_slice_tuple tuple_setitem unpack_single_tuple
cuda/: BaseCUDAMemoryManager CudaSupportError GetIpcHandleMixin HostOnlyCUDAMemoryManager In InOut IpcHandle
    KernelRuntimeError MappedMemory MemoryInfo MemoryPointer Out PinnedMemory Reduce activemask alias all_sync any_sync
    as_cuda_array atomic ballot_sync blockDim blockIdx brev cbrt char1 char2 char3 char4 close clz compile
    compile_for_current_device compile_ptx compile_ptx_for_current_device const cuda_error current_context
    declare_device default_stream defer_cleanup detect device_array device_array_like double1 double2 double3 double4
    eq_sync event event_elapsed_time external_stream ffs float1 float2 float3 float32x1 float32x2 float32x3 float32x4
    float4 float64x1 float64x2 float64x3 float64x4 fma fp16 from_cuda_array_interface get_current_device gpus grid
    gridDim gridsize implementation int1 int16x1 int16x2 int16x3 int16x4 int2 int3 int32x1 int32x2 int32x3 int32x4 int4
    int64x1 int64x2 int64x3 int64x4 int8x1 int8x2 int8x3 int8x4 is_available is_cuda_array is_float16_supported
    is_supported_version jit laneid lanemask_lt legacy_default_stream list_devices local long1 long2 long3 long4
    longlong1 longlong2 longlong3 longlong4 managed_array mapped mapped_array mapped_array_like match_all_sync
    match_any_sync nanosleep open_ipc_array per_thread_default_stream pinned pinned_array pinned_array_like popc
    prepare_shape_strides_dtype profile_start profile_stop profiling reduce require_context runtime select_device selp
    set_memory_manager shared shfl_down_sync shfl_sync shfl_sync_intrinsic shfl_up_sync shfl_xor_sync short1 short2
    short3 short4 stream synchronize syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp test
    threadIdx threadfence threadfence_block threadfence_system to_device uchar1 uchar2 uchar3 uchar4 uint1 uint16x1
    uint16x2 uint16x3 uint16x4 uint2 uint3 uint32x1 uint32x2 uint32x3 uint32x4 uint4 uint64x1 uint64x2 uint64x3 uint64x4
    uint8x1 uint8x2 uint8x3 uint8x4 ulong1 ulong2 ulong3 ulong4 ulonglong1 ulonglong2 ulonglong3 ulonglong4 ushort1
    ushort2 ushort3 ushort4 vote_sync_intrinsic warpsize
cuda.api: _auto_device _contiguous_strides_like_array _order_like_array as_cuda_array close default_stream
    defer_cleanup detect device_array device_array_like event external_stream from_cuda_array_interface
    get_current_device is_cuda_array is_float16_supported legacy_default_stream list_devices managed_array mapped
    mapped_array mapped_array_like open_ipc_array per_thread_default_stream pinned pinned_array pinned_array_like
    select_device stream synchronize to_device
cuda.api_util: _fill_stride_by_order prepare_shape_strides_dtype
cuda.args: ArgHint In InOut Out wrap_arg
cuda.cg: GridGroup _grid_group_sync _ol_grid_group_sync _ol_this_grid _this_grid this_grid
cuda.codegen: CUDACodeLibrary CUDA_TRIPLE JITCUDACodegen disassemble_cubin disassemble_cubin_for_cfg run_nvdisasm
cuda.compiler: CUDABackend CUDACompileResult CUDACompiler CUDAFlags CreateLibrary ExternFunction _nvvm_options_type
    cabi_wrap_function compile compile_cuda compile_for_current_device compile_ptx compile_ptx_for_current_device
    cuda_compile_result declare_device_function declare_device_function_template
cuda.cuda_paths: IS_WIN32 _cuda_home_static_cudalib_path _cudalib_path _env_path_tuple _find_valid_path
    _get_cudalib_dir _get_cudalib_dir_path_decision _get_libdevice_path_decision _get_libdevice_paths _get_nvvm_path
    _get_nvvm_path_decision _get_static_cudalib_dir _get_static_cudalib_dir_path_decision _nvvm_lib_dir get_conda_ctk
    get_cuda_home get_cuda_paths get_debian_pkg_libdevice get_nvidia_cudalib_ctk get_nvidia_libdevice_ctk
    get_nvidia_nvvm_ctk get_nvidia_static_cudalib_ctk get_system_ctk
cuda.cudadecl:
cuda.cudadrv/:
cuda.cudadrv._extras: CUDA_IPC_HANDLE_SIZE call_cuIpcOpenMemHandle set_cuIpcOpenMemHandle
cuda.cudadrv.devicearray: DeviceNDArray DeviceNDArrayBase DeviceRecord IpcArrayHandle ManagedNDArray MappedNDArray
    _assign_kernel array_core auto_device check_array_compatibility errmsg_contiguous_buffer from_array_like
    from_record_like is_contiguous is_cuda_ndarray numpy_version require_cuda_ndarray sentry_contiguous
    verify_cuda_ndarray_interface
cuda.cudadrv.devices: USE_NV_BINDING _DeviceContextManager _DeviceList _Runtime _runtime get_context gpus
    require_context reset
cuda.cudadrv.driver: API_PROTOTYPES AutoFreePointer BaseCUDAMemoryManager Context CtypesFunction CtypesLinker
    CtypesModule CudaAPIError CudaPythonFunction CudaPythonLinker CudaPythonModule DRIVER_LOAD_ERROR_MSG
    DRIVER_NOT_FOUND_MSG DeadMemoryError Device Driver Event FILE_EXTENSION_MAP FuncAttr Function GetIpcHandleMixin
    HostOnlyCUDAMemoryManager IpcHandle Linker LinkerError MIN_REQUIRED_CC MVCLinker ManagedMemory ManagedOwnedPointer
    MappedMemory MappedOwnedPointer MemoryInfo MemoryPointer Module NumbaCUDAMemoryManager OwnedPointer PinnedMemory
    SUPPORTS_IPC Stream USE_NV_BINDING _ActiveContext _CudaIpcImpl _PendingDeallocs _SizeNotSet _StagedIpcImpl
    _alloc_finalizer _build_reverse_device_attrs _build_reverse_error_map _ensure_memory_manager _event_finalizer
    _getpid _hostalloc_finalizer _is_datetime_dtype _module_finalizer _pin_finalizer _raise_driver_error
    _raise_driver_not_found _stream_finalizer _workaround_for_datetime device_ctypes_pointer device_extents
    device_memory_depends device_memory_size device_memset device_pointer device_to_device device_to_host driver
    event_elapsed_time find_driver get_devptr_for_active_ctx get_version host_memory_extents host_memory_size
    host_pointer host_to_device is_device_memory launch_kernel load_driver load_module_image load_module_image_ctypes
    load_module_image_cuda_python locate_driver_and_loader make_logger memory_size_from_info met_requirement_for_device
    profile_start profile_stop profiling require_device_memory set_memory_manager
cuda.cudadrv.drvapi:
cuda.cudadrv.dummyarray: Array Dim Element Extent _compute_size compute_index is_element_indexing
    iter_strides_c_contig iter_strides_f_contig
cuda.cudadrv.enums:
cuda.cudadrv.error: CudaDriverError CudaRuntimeError CudaSupportError NvrtcCompilationError NvrtcError
    NvrtcSupportError NvvmError NvvmSupportError NvvmWarning
cuda.cudadrv.libs: _get_source_variable check_static_lib get_cudalib get_libdevice open_cudalib open_libdevice test
cuda.cudadrv.ndarray: _calc_array_sizeof ndarray_device_allocate_data
cuda.cudadrv.nvrtc: NVRTC NvrtcProgram NvrtcResult compile
cuda.cudadrv.nvvm: ADDRSPACE_CONSTANT ADDRSPACE_GENERIC ADDRSPACE_GLOBAL ADDRSPACE_LOCAL ADDRSPACE_SHARED
    COMPUTE_CAPABILITIES CTK_SUPPORTED CompilationUnit LibDevice MISSING_LIBDEVICE_FILE_MSG NVVM NVVM_ERROR_COMPILATION
    NVVM_ERROR_INVALID_INPUT NVVM_ERROR_INVALID_IR NVVM_ERROR_INVALID_OPTION NVVM_ERROR_INVALID_PROGRAM
    NVVM_ERROR_IR_VERSION_MISMATCH NVVM_ERROR_NO_MODULE_IN_PROGRAM NVVM_ERROR_OUT_OF_MEMORY
    NVVM_ERROR_PROGRAM_CREATION_FAILURE NVVM_SUCCESS RESULT_CODE_NAMES add_ir_version cas_nvvm ccs_supported_by_ctk
    compile_ir find_closest_arch get_arch_option get_supported_ccs i ir_cas ir_numba_atomic_binary
    ir_numba_atomic_binary_template ir_numba_atomic_dec ir_numba_atomic_dec_template ir_numba_atomic_inc
    ir_numba_atomic_inc_template ir_numba_atomic_minmax ir_numba_atomic_minmax_template is_available k llvm140_to_70_ir
    llvm_replace set_cuda_kernel
cuda.cudadrv.rtapi: API_PROTOTYPES
cuda.cudadrv.runtime: API_PROTOTYPES CudaRuntimeAPIError Runtime get_version runtime
cuda.cudaimpl:
cuda.cudamath: Math_atan2 Math_binary Math_frexp Math_hypot Math_isnan Math_ldexp Math_modf Math_pow Math_remainder
    Math_unary Math_unary_with_fp16
cuda.decorators: declare_device jit
cuda.descriptor: CUDATarget CUDATargetOptions cuda_target
cuda.device_init: alias cuda_error is_available is_supported_version
cuda.deviceufunc: DeviceGUFuncVectorize DeviceVectorize GUFuncCallSteps GUFuncEngine GUFuncSchedule GeneralizedUFunc
    UFuncMechanism _broadcast_axis _determine_gufunc_outer_types _gen_src_for_indexing _gen_src_index _multi_broadcast
    _pairwise_broadcast expand_gufunc_template to_dtype
cuda.dispatcher: CUDACache CUDACacheImpl CUDADispatcher ForAll _Kernel _LaunchConfiguration cuda_fp16_math_funcs
    missing_launch_config_msg
cuda.errors: CudaLoweringError KernelRuntimeError missing_launch_config_msg normalize_kernel_dimensions
cuda.extending:
cuda.initialize: initialize_all
cuda.intrinsic_wrapper: all_sync any_sync ballot_sync eq_sync shfl_down_sync shfl_sync shfl_up_sync shfl_xor_sync
cuda.intrinsics: _syncthreads_predicate _type_grid_function _warpsize cuda_warpsize grid gridsize syncthreads
    syncthreads_and syncthreads_count syncthreads_or
cuda.kernels/:
cuda.kernels.reduction: Reduce _gpu_reduce_factory
cuda.kernels.transpose: transpose
cuda.libdevice: abs acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf brev brevll
    byte_perm cbrt cbrtf ceil ceilf clz clzll copysign copysignf cos cosf cosh coshf cospi cospif dadd_rd dadd_rn
    dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd dmul_rn dmul_ru dmul_rz double2float_rd double2float_rn
    double2float_ru double2float_rz double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2ll_rd
    double2ll_rn double2ll_ru double2ll_rz double2loint double2uint_rd double2uint_rn double2uint_ru double2uint_rz
    double2ull_rd double2ull_rn double2ull_ru double2ull_rz double_as_longlong drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd
    dsqrt_rn dsqrt_ru dsqrt_rz erf erfc erfcf erfcinv erfcinvf erfcx erfcxf erff erfinv erfinvf exp exp10 exp10f exp2
    exp2f expf expm1 expm1f fabs fabsf fadd_rd fadd_rn fadd_ru fadd_rz fast_cosf fast_exp10f fast_expf fast_fdividef
    fast_log10f fast_log2f fast_logf fast_powf fast_sincosf fast_sinf fast_tanf fdim fdimf fdiv_rd fdiv_rn fdiv_ru
    fdiv_rz ffs ffsll finitef float2half_rn float2int_rd float2int_rn float2int_ru float2int_rz float2ll_rd float2ll_rn
    float2ll_ru float2ll_rz float2uint_rd float2uint_rn float2uint_ru float2uint_rz float2ull_rd float2ull_rn
    float2ull_ru float2ull_rz float_as_int floor floorf fma fma_rd fma_rn fma_ru fma_rz fmaf fmaf_rd fmaf_rn fmaf_ru
    fmaf_rz fmax fmaxf fmin fminf fmod fmodf fmul_rd fmul_rn fmul_ru fmul_rz frcp_rd frcp_rn frcp_ru frcp_rz frexp
    frexpf frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz fsub_rd fsub_rn fsub_ru fsub_rz hadd half2float hiloint2double
    hypot hypotf ilogb ilogbf int2double_rn int2float_rd int2float_rn int2float_ru int2float_rz int_as_float isfinited
    isinfd isinff isnand isnanf j0 j0f j1 j1f jn jnf ldexp ldexpf lgamma lgammaf ll2double_rd ll2double_rn ll2double_ru
    ll2double_rz ll2float_rd ll2float_rn ll2float_ru ll2float_rz llabs llmax llmin llrint llrintf llround llroundf log
    log10 log10f log1p log1pf log2 log2f logb logbf logf longlong_as_double max min modf modff mul24 mul64hi mulhi
    nearbyint nearbyintf nextafter nextafterf normcdf normcdff normcdfinv normcdfinvf popc popcll pow powf powi powif
    rcbrt rcbrtf remainder remainderf remquo remquof rhadd rint rintf round roundf rsqrt rsqrtf sad saturatef scalbn
    scalbnf signbitd signbitf sin sincos sincosf sincospi sincospif sinf sinh sinhf sinpi sinpif sqrt sqrtf tan tanf
    tanh tanhf tgamma tgammaf trunc truncf uhadd uint2double_rn uint2float_rd uint2float_rn uint2float_ru uint2float_rz
    ull2double_rd ull2double_rn ull2double_ru ull2double_rz ull2float_rd ull2float_rn ull2float_ru ull2float_rz ullmax
    ullmin umax umin umul24 umul64hi umulhi urhadd usad y0 y0f y1 y1f yn ynf
cuda.libdevicedecl:
cuda.libdevicefuncs: arg create_signature docstring_template functions generate_stubs param_template
cuda.libdeviceimpl:
cuda.mathimpl:
cuda.models: Dim3Model FloatModel GridGroupModel
cuda.nvvmutils: SREG_MAPPING SRegBuilder atomic_cmpxchg call_sreg declare_atomic_add_float32
    declare_atomic_add_float64 declare_atomic_cas_int declare_atomic_dec_int32 declare_atomic_dec_int64
    declare_atomic_inc_int32 declare_atomic_inc_int64 declare_atomic_max_float32 declare_atomic_max_float64
    declare_atomic_min_float32 declare_atomic_min_float64 declare_atomic_nanmax_float32 declare_atomic_nanmax_float64
    declare_atomic_nanmin_float32 declare_atomic_nanmin_float64 declare_atomic_sub_float32 declare_atomic_sub_float64
    declare_cudaCGGetIntrinsicHandle declare_cudaCGSynchronize declare_string declare_vprint get_global_id
cuda.printimpl:
cuda.random: TWO_PI_FLOAT32 TWO_PI_FLOAT64 create_xoroshiro128p_states init_xoroshiro128p_state
    init_xoroshiro128p_states init_xoroshiro128p_states_cpu rotl uint64_to_unit_float32 uint64_to_unit_float64
    xoroshiro128p_dtype xoroshiro128p_jump xoroshiro128p_next xoroshiro128p_normal_float32 xoroshiro128p_normal_float64
    xoroshiro128p_uniform_float32 xoroshiro128p_uniform_float64
cuda.stubs: Dim3 Stub activemask atomic blockDim blockIdx brev cbrt clz const ffs fma fp16 gridDim laneid
    lanemask_lt local make_vector_type_stubs map_vector_type_stubs_to_alias match_all_sync match_any_sync nanosleep popc
    selp shared shfl_sync_intrinsic stub_function syncwarp threadIdx threadfence threadfence_block threadfence_system
    vote_sync_intrinsic warpsize
cuda.target: CUDACABICallConv CUDACallConv CUDATargetContext CUDATypingContext
cuda.types: CUDADispatcher Dim3 GridGroup dim3 grid_group
cuda.ufuncs: get_ufunc_info ufunc_db
cuda.vector_types: VectorType _initialize build_constructor_overloads enable_vector_type_ctor make_vector_type
    vector_types
cuda.vectorizers: CUDAGUFuncVectorize CUDAGeneralizedUFunc CUDAUFuncDispatcher CUDAUFuncMechanism CUDAVectorize
    _CUDAGUFuncCallSteps vectorizer_stager_source
experimental/: jitclass
experimental.function_type: FunctionModel FunctionProtoModel _get_jit_address _get_wrapper_address
    _lower_get_address box_function_type lower_cast_dispatcher_to_function_type
    lower_cast_function_type_to_function_type lower_constant_dispatcher lower_constant_function_type
    typeof_function_type unbox_function_type
experimental.jitclass/: jitclass
experimental.jitclass._box: box_dataptr_offset box_get_dataptr box_get_meminfoptr box_meminfoptr_offset
experimental.jitclass.base: ClassAttribute ClassBuilder ConstructorTemplate InstanceDataModel InstanceModel
    JitClassType _add_linking_libs _drop_ignored_attrs _fix_up_private_attr _getargs _mangle_attr _validate_spec
    ctor_impl get_attr_impl imp_dtor register_class_type set_attr_impl
experimental.jitclass.boxing: _box_class_instance _generate_method _generate_property _specialize_box
    _typeof_jitclass_box _unbox_class_instance
experimental.jitclass.decorators: jitclass
experimental.jitclass.overloads: _get_args class_bool class_complex class_contains class_float
    class_instance_overload class_int class_ne class_str extract_template register_reflected_overload
    register_simple_overload take_first try_call_complex_method try_call_method
experimental.structref: StructRefProxy _Utils define_attributes define_boxing define_constructor define_proxy new
    register structref_is
extending:
misc/:
misc.cffiimpl:
misc.coverage_support: NotifyCompilerCoverage NotifyLocBase coverage_available get_active_coverage
    get_registered_loc_notify
misc.findlib: DLLNAMEMAP RE_VER find_file find_lib get_lib_dirs
misc.firstlinefinder: FindDefFirstLine _is_docstring get_func_body_first_lineno
misc.gdb_hook: _confirm_gdb gen_bp_impl gen_gdb_impl hook_gdb hook_gdb_breakpoint hook_gdb_init init_gdb_codegen
misc.init_utils: generate_version_info version_info
misc.inspection: disassemble_elf_to_cfg
misc.literal: _ov_literally literal_unroll_impl
misc.llvm_pass_timings: NamedTimings PassTimingRecord PassTimingsCollection ProcessedPassTimings
    RecordLLVMPassTimings RecordLLVMPassTimingsLegacy _adjust_timings
misc.memoryutils: IS_SUPPORTED MemoryTracker get_available_memory get_memory_usage
misc.mergesort: MergesortImplementation SMALL_MERGESORT make_jit_mergesort make_mergesort_impl
misc.numba_entry: main make_parser
misc.numba_gdbinfo: _GDBTestWrapper _gdb_info collect_gdbinfo display_gdbinfo
misc.numba_sysinfo: PIPE display_sysinfo get_os_spec_info get_sysinfo llvmlite_version version_number
misc.quicksort: MAX_STACK Partition QuicksortImplementation SMALL_QUICKSORT make_jit_quicksort make_py_quicksort
    make_quicksort_impl
misc.special: _gdb_python_call_gen gdb gdb_breakpoint gdb_init literal_unroll literally pndindex prange
misc.timsort: MAX_MERGE_PENDING MERGESTATE_TEMP_SIZE MIN_GALLOP MergeRun MergeState TimsortImplementation
    make_jit_timsort make_py_timsort make_timsort_impl
mviewbuf: memoryview_get_buffer memoryview_get_extents memoryview_get_extents_info
np/:
np.arraymath: ArrayIterator EntireIterator IS_WIN32 LIKELY_IN_CACHE_SIZE MachAr VALID_SEARCHSORTED_SIDES
    _allclose_scalars _arg_select_w_nan _argpartition_w_nan _asarray _asarray_impl _assert_1d _can_collect_percentiles
    _chbevl _check_blas _check_nop _check_val_float _check_val_int _check_vander_params _clip_complex _clip_corr
    _collect_percentiles _collect_percentiles_inner _compute_a_max _compute_a_max_impl _compute_a_min
    _compute_a_min_impl _compute_current_val_impl_gen _cross _cross_impl _cross_operation _dtype_of_compound
    _early_return _early_return_impl _fill_diagonal _fill_diagonal_params _fill_diagonal_scalar _gen_np_machar _get_d
    _get_inner_prod _handle_ddof _handle_ddof_nop _handle_m_dim_change _handle_m_dim_nop _i0 _i0n _in1d_impl
    _isclose_item _less_than _less_than_or_equal _less_then_datetime64 _less_then_or_equal_datetime64 _make_square
    _median_inner _np_correlate _np_correlate_core _np_correlate_core_impl _np_round_float _np_round_intrinsic
    _np_vander _numpy_cumsum _numpy_cumsum_axis _numpy_sum _numpy_sum_axis _partition _partition_factory
    _partition_w_nan _percentile_quantile_inner _prepare_array _prepare_array_impl _prepare_cov_input
    _prepare_cov_input_impl _prepare_cov_input_inner _searchsorted _select _select_element _select_element_impl
    _select_factory _select_two _select_w_nan _trapz_impl _tri_impl _where_fast_inner_impl _where_generic_impl
    _where_generic_inner_impl _where_zero_size_array_impl array_argmax array_argmax_impl_datetime
    array_argmax_impl_float array_argmax_impl_generic array_argmin array_argmin_impl_datetime array_argmin_impl_float
    array_argmin_impl_generic array_cumprod array_cumsum array_mean array_nanargmax_impl array_nanargmin_impl
    array_nonzero array_prod array_std array_sum array_var binary_search_with_guess
    build_argmax_or_argmin_with_axis_impl build_array_nanarg_impl cast_accumulator check_array check_axis_bounds
    check_dimensions check_duplicates check_valid complex_nanmax complex_nanmin determine_dtype finfo
    generate_xinfo_body get_accumulator get_accumulator_type get_d_impl get_isnan get_mask get_ret_dtype_if_any
    get_spliced_tuple greater_than iinfo impl_np_round impl_np_sinc is_np_inf_impl isclose iscomplexobj isneginf
    isposinf isrealobj jit_np_in1d jit_np_intersect1d jit_np_isin jit_np_setdiff1d jit_np_setxor1d less_than
    less_than_or_equal_complex make_scalar_reduction_impl make_scalar_reduction_impl_axis
    make_searchsorted_implementation max_comparator min_comparator my_tril my_triu nan_aware_less_than
    nan_min_max_factory needs_accumulator_cast np_all np_allclose np_any np_argpartition np_argpartition_impl_inner
    np_argwhere np_array_equal np_asarray np_asarray_chkfinite np_average np_bartlett_impl np_bincount np_blackman_impl
    np_contains np_convolve np_corrcoef np_count_nonzero np_cov np_cov_impl_inner np_cross np_delete
    np_delete_handler_isarray np_delete_handler_isslice np_diff_impl np_digitize np_ediff1d np_extract np_fill_diagonal
    np_flatnonzero np_hamming_impl np_hanning_impl np_histogram np_imag np_insert np_interp np_interp_impl_complex_inner
    np_interp_impl_inner np_iscomplex np_isreal np_isscalar np_kaiser np_median np_nanargmax np_nanargmin np_nancumprod
    np_nancumsum np_nanmax np_nanmean np_nanmedian np_nanmin np_nanpercentile np_nanprod np_nanquantile np_nanstd
    np_nansum np_nanvar np_partition np_partition_impl_inner np_percentile np_ptp np_quantile np_real np_roll np_select
    np_trapezoid np_tri np_tril_impl_2d np_tril_indices np_tril_indices_from np_trim_zeros np_triu_impl_2d
    np_triu_indices np_triu_indices_from np_union1d np_vander npy_max npy_min numpy_unwrap numpy_version ol_np_finfo
    ol_np_iinfo ov_np_angle ov_np_where ov_np_where_x_y percentile_is_valid prepare_ptp_input quantile_is_valid
    real_nanmax real_nanmin return_false round_ndigits row_wise_average scalar_result_expected searchsorted
    tuple_additem valid_kths validate_1d_array_like window_generator
np.arrayobj: BooleanArrayIndexer EntireIndexer FancyIndexer Indexer IntegerArrayIndexer IntegerIndexer NdStack_typer
    SliceIndexer SubspaceIndexer _arange_dtype _array_copy _array_copy_intrinsic _array_tobytes_intrinsic
    _as_layout_array _as_layout_array_intrinsic _atleast_nd _atleast_nd_transform _attempt_nocopy_reshape
    _bc_adjust_dimension _bc_adjust_shape_strides _broadcast_to_shape _build_flip_slice_tuple _call_allocator
    _call_contiguous_check _can_broadcast _change_dtype _check_const_str_dtype _column_stack_dims _compatible_view
    _default_broadcast_to_impl _do_concatenate _empty_nd_impl _eye_none_handler _eye_none_handler_impl
    _get_borrowing_getitem _get_seq_size _getitem_array_generic _getitem_array_single_int _increment_indices
    _increment_indices_array _insert_axis_in_shape _insert_axis_in_strides _intrin_get_itemsize
    _make_flattening_iter_cls _normalize_axis _np_clip_impl _np_clip_impl_none _np_clip_prepare_out _np_concatenate
    _np_dstack _np_hstack _np_stack _np_stack_common _np_vstack _numpy_broadcast_to _ol_array_allocate _parse_empty_args
    _parse_empty_like_args _parse_shape _take_along_axis_impl _zero_fill_array_method arr_fill arr_take_along_axis
    array0d_to_scalar array_T array_argsort array_ascontiguousarray array_asfortranarray array_astype array_c_contiguous
    array_clip array_complex_attr array_conj array_contiguous array_copy array_ctypes array_ctypes_data
    array_ctypes_to_pointer array_dot array_dtype array_f_contiguous array_flags array_flags_c_contiguous
    array_flags_f_contiguous array_flatten array_imag_part array_is array_item array_itemsize array_len array_nbytes
    array_ndim array_ravel array_readonly array_real_part array_record_getattr array_record_getitem array_repeat
    array_reshape array_reshape_vararg array_shape array_size array_sort array_strides array_to_array array_to_unichrseq
    array_transpose array_transpose_tuple array_transpose_vararg array_view as_strided assign_sequence_to_array
    basic_indexing broadcast_index check_sequence_shape compute_memory_extents compute_sequence_shape constant_array
    constant_bytes constant_record default_lt dtype_eq_impl dtype_type expand_dims extents_may_overlap fancy_getitem
    fancy_getitem_array fancy_setslice fix_integer_index generate_getitem_setitem_with_axis get_array_memory_extents
    get_cfarray_intrinsic get_itemsize get_readonly_array get_sort_func get_subspace_shape getitem_array_tuple
    getitem_arraynd_intp getiter_array impl_array_tobytes impl_carray impl_column_stack impl_farray impl_np_array
    impl_np_concatenate impl_np_diag impl_np_dstack impl_np_expand_dims impl_np_frombuffer impl_np_full
    impl_np_full_like impl_np_hstack impl_np_identity impl_np_sort impl_np_stack impl_np_vstack impl_numpy_copy
    impl_shape_unchecked intrin_alloc iternext_numpy_getitem iternext_numpy_getitem_any iternext_numpy_getitem_flat
    load_item lt_implementation make_array make_array_flat_cls make_array_flatiter make_array_ndenumerate
    make_array_ndenumerate_cls make_array_ndindex make_array_ndindex_tuple make_array_nditer make_ndindex_cls
    make_nditer_cls make_view mark_positive maybe_copy_source nan_to_num_impl normalize_axis normalize_axis_overloads
    normalize_axis_tuple normalize_axis_tuple_overloads normalize_index normalize_indices normalize_reshape_value
    np_append np_arange np_array np_array_split np_array_typer np_atleast_1d np_atleast_2d np_atleast_3d np_cfarray
    np_clip np_column_stack np_concatenate np_concatenate_typer np_expand_dims np_flip np_flip_lr np_flip_ud
    np_frombuffer np_ravel np_repeat np_repeat_impl_repeats_scaler np_reshape np_shape np_size np_split np_stack_common
    np_unique numpy_broadcast_arrays numpy_broadcast_shapes_list numpy_broadcast_to numpy_diagflat numpy_dsplit
    numpy_empty_like_nd numpy_empty_nd numpy_eye numpy_geomspace numpy_hsplit numpy_indices numpy_linspace
    numpy_logspace numpy_moveaxis numpy_resize numpy_rot90 numpy_swapaxes numpy_take numpy_transpose numpy_version
    numpy_vsplit offset_bounds_from_strides ol_array_hash ol_array_zero_fill ol_bool ol_compatible_view ol_np_empty
    ol_np_empty_like ol_np_ones ol_np_ones_like ol_np_zeros ol_np_zeros_like ol_numpy_broadcast_shapes
    ol_raise_with_shape_context_cpu ol_raise_with_shape_context_generic permute_arrays populate_array
    raise_with_shape_context record_getattr record_setattr record_static_getitem_int record_static_getitem_str
    record_static_setitem_int record_static_setitem_str reshape_unchecked set_range_metadata setitem_array
    sliding_window_view static_getitem_number_clazz store_item type_reshape_unchecked update_array_info vararg_to_tuple
np.extensions: numpy_version
np.linalg: _BLAS _LAPACK _check_finite_matrix _check_homogeneous_types _check_lapack_int_width
    _check_linalg_1_or_2d_matrix _check_linalg_matrix _check_scalar_or_lt_2d_mat _compute_singular_values
    _compute_singular_values_impl _copy_to_fortran_order _dummy_liveness_func _get_norm_impl _get_outer_impl
    _get_rank_from_singular_values _get_slogdet_diag_walker _handle_err_maybe_convergence_problem _inv_err_handler
    _kron_normaliser_impl _kron_return _lapack_runtime_is_ilp64 _lstsq_residual _lstsq_residual_impl _lstsq_solution
    _lstsq_solution_impl _oneD_norm_2 _oneD_norm_2_impl _solve_compute_return _solve_compute_return_impl
    _system_check_dimensionally_valid _system_check_dimensionally_valid_impl _system_check_non_empty
    _system_check_non_empty_impl _system_compute_nrhs _system_compute_nrhs_impl _system_copy_in_b _system_copy_in_b_impl
    call_xxdot call_xxgemm call_xxgemv check_blas_return check_c_int check_lapack_return cho_impl cond_impl det_impl
    dot_2 dot_2_impl dot_2_mm dot_2_mv dot_2_vm dot_2_vv dot_3 dot_3_mm dot_3_mv_check_args dot_3_vm dot_3_vm_check_args
    eig_impl eigh_impl eigvals_impl eigvalsh_impl ensure_blas ensure_lapack get_blas_kind inv_impl kron_impl lstsq_impl
    make_constant_slot make_contiguous matmul_2 matrix_power_impl matrix_rank_impl matrix_trace_impl norm_impl
    ol_copy_to_fortran_order outer_impl outer_impl_arr outer_impl_none pinv_impl qr_impl slogdet_impl solve_impl
    svd_impl vdot
np.math/:
np.math.cmathimpl:
np.math.mathimpl:
np.math.numbers: _get_power_zerodiv_return _int_arith_flags complex_abs_impl complex_add_impl complex_conjugate_impl
    complex_mul_impl complex_negate_impl complex_positive_impl complex_power_impl complex_sub_impl identity_impl
    int_abs_impl int_add_impl int_and_impl int_eq_impl int_invert_impl int_mul_impl int_ne_impl int_negate_impl
    int_or_impl int_positive_impl int_power_impl int_sge_impl int_sgt_impl int_shl_impl int_shr_impl int_sign_impl
    int_signed_unsigned_cmp int_sle_impl int_slt_impl int_sub_impl int_uge_impl int_ugt_impl int_ule_impl int_ult_impl
    int_unsigned_signed_cmp int_xor_impl real_abs_impl real_add_impl real_conjugate_impl real_eq_impl real_ge_impl
    real_gt_impl real_le_impl real_lt_impl real_mul_impl real_ne_impl real_negate_impl real_positive_impl
    real_power_impl real_sign_impl real_sub_impl uint_abs_impl
np.npdatetime: IS_32BITS TIMEDELTA_BINOP_SIG _cast_npdatetime_int64 _cast_to_timedelta
    _create_datetime_comparison_impl _create_timedelta_comparison_impl _create_timedelta_ordering_impl
    _datetime_minus_timedelta _datetime_plus_timedelta _datetime_timedelta_arith _gen_datetime_max_impl
    _gen_datetime_min_impl _gen_timedelta_max_impl _gen_timedelta_min_impl _np_isnat_impl _timedelta_times_number
    add_constant alloc_boolean_result alloc_timedelta_result are_not_nat convert_datetime_for_arith datetime_constant
    datetime_eq_datetime_impl datetime_fmax_impl datetime_fmin_impl datetime_ge_datetime_impl datetime_gt_datetime_impl
    datetime_le_datetime_impl datetime_lt_datetime_impl datetime_maximum_impl datetime_minimum_impl
    datetime_minus_datetime datetime_minus_timedelta datetime_ne_datetime_impl datetime_plus_timedelta func is_leap_year
    is_not_nat normalize_timedeltas number_times_timedelta ol_hash_npdatetime reduce_datetime_for_unit scale_by_constant
    scale_timedelta timedelta_abs_impl timedelta_add_impl timedelta_eq_timedelta_impl timedelta_floor_div_timedelta
    timedelta_fmax_impl timedelta_fmin_impl timedelta_ge_timedelta_impl timedelta_gt_timedelta_impl
    timedelta_le_timedelta_impl timedelta_lt_timedelta_impl timedelta_maximum_impl timedelta_minimum_impl
    timedelta_mod_timedelta timedelta_ne_timedelta_impl timedelta_neg_impl timedelta_over_number
    timedelta_over_timedelta timedelta_plus_datetime timedelta_pos_impl timedelta_sign_impl timedelta_sub_impl
    timedelta_times_number unscale_by_constant year_to_days
np.npdatetime_helpers: DATETIME_UNITS NAT _get_conversion_multiplier can_cast_timedelta_units
    combine_datetime_timedelta_units datetime_maximum datetime_minimum get_best_unit get_datetime_timedelta_conversion
    get_timedelta_conversion_factor same_kind
np.npyfuncs: _call_func_by_name_with_cast _check_arity_and_homogeneity _complex_is_true _dispatch_func_by_name_type
    _fabs _generate_logaddexp _npy_logaddexp _npy_logaddexp2 np_complex_acosh_impl np_complex_cos_impl
    np_complex_cosh_impl np_complex_div_impl np_complex_eq_impl np_complex_exp2_impl np_complex_exp_impl
    np_complex_expm1_impl np_complex_float_power_impl np_complex_floor_div_impl np_complex_fmax_impl
    np_complex_fmin_impl np_complex_ge_impl np_complex_gt_impl np_complex_isfinite_impl np_complex_isinf_impl
    np_complex_isnan_impl np_complex_le_impl np_complex_log10_impl np_complex_log1p_impl np_complex_log2_impl
    np_complex_log_impl np_complex_logical_and_impl np_complex_logical_not_impl np_complex_logical_or_impl
    np_complex_logical_xor_impl np_complex_lt_impl np_complex_maximum_impl np_complex_minimum_impl np_complex_ne_impl
    np_complex_power_impl np_complex_reciprocal_impl np_complex_rint_impl np_complex_sign_impl np_complex_sin_impl
    np_complex_sinh_impl np_complex_sqrt_impl np_complex_square_impl np_complex_tanh_impl np_datetime_isfinite_impl
    np_datetime_isnat_impl np_gcd_impl np_int_fmod_impl np_int_isfinite_impl np_int_isinf_impl np_int_isnan_impl
    np_int_reciprocal_impl np_int_sdiv_impl np_int_sdivrem_impl np_int_smax_impl np_int_smin_impl np_int_square_impl
    np_int_srem_impl np_int_truediv_impl np_int_udiv_impl np_int_udivrem_impl np_int_umax_impl np_int_umin_impl
    np_int_urem_impl np_lcm_impl np_logical_and_impl np_logical_not_impl np_logical_or_impl np_logical_xor_impl
    np_real_acos_impl np_real_acosh_impl np_real_asin_impl np_real_asinh_impl np_real_atan2_impl np_real_atan_impl
    np_real_atanh_impl np_real_cbrt_impl np_real_ceil_impl np_real_copysign_impl np_real_cos_impl np_real_cosh_impl
    np_real_div_impl np_real_divmod_impl np_real_exp2_impl np_real_exp_impl np_real_expm1_impl np_real_fabs_impl
    np_real_floor_div_impl np_real_floor_impl np_real_fmax_impl np_real_fmin_impl np_real_fmod_impl np_real_hypot_impl
    np_real_isfinite_impl np_real_isinf_impl np_real_isnan_impl np_real_ldexp_impl np_real_log10_impl np_real_log1p_impl
    np_real_log2_impl np_real_log_impl np_real_logaddexp2_impl np_real_logaddexp_impl np_real_maximum_impl
    np_real_minimum_impl np_real_mod_impl np_real_nextafter_impl np_real_reciprocal_impl np_real_rint_impl
    np_real_signbit_impl np_real_sin_impl np_real_sinh_impl np_real_spacing_impl np_real_sqrt_impl np_real_square_impl
    np_real_tan_impl np_real_tanh_impl np_real_trunc_impl npy_log2_1p numpy_version ol_npy_log2_1p real_float_power_impl
np.npyimpl:
np.numpy_support: FROM_DTYPE UFuncLoopSpec _check_struct_alignment _from_datetime_dtype _from_str_dtype
    _get_array_from_ptr _get_bytes_buffer _is_aligned_struct _ufunc_loop_sig as_dtype as_struct_dtype carray
    check_is_integer farray from_dtype from_struct_dtype is_array is_contiguous is_fortran lt_complex lt_floats
    map_arrayscalar_type map_layout numpy_version resolve_output_type select_array_wrapper supported_ufunc_loop
    type_can_asarray type_is_scalar ufunc_can_cast ufunc_find_matching_loop
np.polynomial/:
np.polynomial.polynomial_core: PolynomialModel box_polynomial impl_polynomial1 impl_polynomial3 type_polynomial
    unbox_polynomial
np.polynomial.polynomial_functions: _get_list_type _poly_result_dtype numpy_polyadd numpy_polydiv numpy_polymul
    numpy_polysub poly_polyint poly_polyval polyutils_as_series polyutils_trimseq roots_impl
np.random/:
np.random._constants: INT64_MAX LONG_MAX LS2PI M_PI TWELFTH UINT16_MAX UINT32_MAX UINT64_MAX UINT8_MAX fe_double
    fe_float fi_double fi_float ke_double ke_float ki_double ki_float we_double we_float wi_double wi_float
    ziggurat_exp_r ziggurat_exp_r_f ziggurat_nor_inv_r ziggurat_nor_inv_r_f ziggurat_nor_r ziggurat_nor_r_f
np.random.distributions: INT64_MAX _binomial_btpe_squeeze fe_double fe_float fi_double fi_float ke_double ke_float
    ki_double ki_float np_expm1 np_log1p np_log1pf numpy_version random_beta random_binomial random_binomial_btpe
    random_binomial_inversion random_chisquare random_exponential random_f random_gamma random_gamma_f random_geometric
    random_geometric_inversion random_geometric_search random_laplace random_loggam random_logistic random_lognormal
    random_logseries random_negative_binomial random_noncentral_chisquare random_noncentral_f random_normal
    random_normal_f random_pareto random_poisson random_poisson_mult random_poisson_ptrs random_power random_rayleigh
    random_standard_cauchy random_standard_exponential random_standard_exponential_f random_standard_exponential_inv
    random_standard_exponential_inv_f random_standard_gamma random_standard_gamma_f random_standard_normal
    random_standard_normal_f random_standard_t random_triangular random_uniform random_wald random_weibull random_zipf
    we_double we_float wi_double wi_float ziggurat_exp_r ziggurat_exp_r_f ziggurat_nor_inv_r ziggurat_nor_inv_r_f
    ziggurat_nor_r ziggurat_nor_r_f
np.random.generator_core: NumPyRandomGeneratorTypeModel NumPyRngBitGeneratorModel _generate_next_binding next_double
    next_float next_uint32 next_uint64
np.random.generator_methods: NumPyRandomGeneratorType_beta NumPyRandomGeneratorType_binomial
    NumPyRandomGeneratorType_chisquare NumPyRandomGeneratorType_exponential NumPyRandomGeneratorType_f
    NumPyRandomGeneratorType_gamma NumPyRandomGeneratorType_geometric NumPyRandomGeneratorType_integers
    NumPyRandomGeneratorType_laplace NumPyRandomGeneratorType_logistic NumPyRandomGeneratorType_lognormal
    NumPyRandomGeneratorType_logseries NumPyRandomGeneratorType_negative_binomial
    NumPyRandomGeneratorType_noncentral_chisquare NumPyRandomGeneratorType_noncentral_f NumPyRandomGeneratorType_normal
    NumPyRandomGeneratorType_pareto NumPyRandomGeneratorType_permutation NumPyRandomGeneratorType_poisson
    NumPyRandomGeneratorType_power NumPyRandomGeneratorType_random NumPyRandomGeneratorType_rayleigh
    NumPyRandomGeneratorType_shuffle NumPyRandomGeneratorType_standard_cauchy
    NumPyRandomGeneratorType_standard_exponential NumPyRandomGeneratorType_standard_gamma
    NumPyRandomGeneratorType_standard_normal NumPyRandomGeneratorType_standard_t NumPyRandomGeneratorType_triangular
    NumPyRandomGeneratorType_uniform NumPyRandomGeneratorType_wald NumPyRandomGeneratorType_weibull
    NumPyRandomGeneratorType_zipf _get_proper_func check_size check_types
np.random.legacy: LONG_MAX _binomial_btpe_next_double _binomial_btpe_squeeze _logseries_impl beta_impl binomial_impl
    binomial_impl_3 cauchy_impl chisquare_impl chisquare_impl2 choice dirichlet dirichlet_2 dirichlet_arr
    exponential_impl_0 exponential_impl_1 exponential_impl_2 f_impl f_impl_3 gamma_impl geometric_impl geometric_impl_2
    get_np_state_ptr gumbel_impl gumbel_impl3 hypergeometric_impl hypergeometric_impl_4 laplace_impl laplace_impl0
    laplace_impl1 laplace_impl2 laplace_impl3 logistic_impl logistic_impl0 logistic_impl1 logistic_impl2 logistic_impl3
    lognormal_impl logseries_impl logseries_impl_2 multinomial negative_binomial_impl noncentral_chisquare
    noncentral_chisquare_3 noncentral_chisquare_single np_gauss_impl0 np_gauss_impl1 np_gauss_impl2 np_gauss_impl3
    np_log_normal_impl1 np_log_normal_impl2 np_lognormal_impl0 np_randint_impl_1 np_randint_impl_2 np_randint_impl_3
    np_uniform_impl0 np_uniform_impl2 np_uniform_impl3 ol_np_random_beta ol_np_random_gamma1 ol_np_random_gamma2
    pareto_impl pareto_impl_2 permutation_impl poisson_impl0 poisson_impl1 poisson_impl2 power_impl power_impl_2 rand
    randn random_impl0 random_impl1 rayleigh_impl0 rayleigh_impl1 rayleigh_impl2 seed_impl_np shuffle_impl_np
    standard_cauchy_impl standard_exponential_impl standard_gamma_impl standard_normal_impl1 standard_t_impl
    standard_t_impl2 triangular_impl_np_3 triangular_impl_np_4 validate_noncentral_chisquare_input vonmises_impl
    vonmisesvariate_impl_np wald_impl wald_impl2 weibull_impl weibull_impl2 zipf_impl zipf_impl_2
np.random.random_methods: UINT16_MAX UINT32_MAX UINT64_MAX UINT8_MAX _randint_arg_check bounded_lemire_uint64
    buffered_bounded_bool buffered_bounded_lemire_uint16 buffered_bounded_lemire_uint32 buffered_bounded_lemire_uint8
    buffered_uint16 buffered_uint8 gen_mask random_bounded_bool_fill random_bounded_uint16_fill
    random_bounded_uint32_fill random_bounded_uint64_fill random_bounded_uint8_fill random_interval
np.types/: NPDatetime NPTimedelta
np.types.datetime: DatetimeCmpEq DatetimeCmpGE DatetimeCmpGt DatetimeCmpLE DatetimeCmpLt DatetimeCmpNe DatetimeCmpOp
    DatetimeMinMax DatetimeMinusDatetime DatetimeMinusTimedelta DatetimePlusTimedelta NPDatetime NPDatetimeAttribute
    NPDatetimeModel NPTimedelta NPTimedeltaAttribute TimedeltaAbs TimedeltaBinAdd TimedeltaBinMult TimedeltaBinOp
    TimedeltaBinSub TimedeltaCmpEq TimedeltaCmpGE TimedeltaCmpGt TimedeltaCmpLE TimedeltaCmpLt TimedeltaCmpNe
    TimedeltaCmpOp TimedeltaDivOp TimedeltaFloorDiv TimedeltaMixOp TimedeltaOrderedCmpOp TimedeltaTrueDiv
    TimedeltaUnaryNeg TimedeltaUnaryOp TimedeltaUnaryPos _NPDatetimeBase numpy_version
np.types.datetime_registry: box_npdatetime box_nptimedelta ol_int ol_max_datetime ol_min_datetime unbox_npdatetime
    unbox_nptimedelta
np.ufunc/: GUVectorize PyUFunc_None PyUFunc_One PyUFunc_ReorderableNone PyUFunc_Zero Vectorize get_num_threads
    get_parallel_chunksize get_thread_id guvectorize set_num_threads set_parallel_chunksize threading_layer vectorize
np.ufunc._internal: PyUFunc_None PyUFunc_One PyUFunc_ReorderableNone PyUFunc_Zero fromfunc
np.ufunc._num_threads: get_num_threads set_num_threads
np.ufunc.array_exprs: RewriteArrayExprs _EraseInvalidLineRanges _arr_expr_to_ast _fix_invalid_lineno_ranges
    _is_ufunc _legalize_parameter_names _lower_array_expr
np.ufunc.decorators: GUVectorize Vectorize _BaseVectorize guvectorize vectorize
np.ufunc.dufunc: DUFunc DUFuncLowerer UfuncAtIterator make_dufunc_kernel
np.ufunc.gufunc: GUFunc GUFuncLowerer _is_array_wrapper make_gufunc_kernel
np.ufunc.omppool: add_task allocate_sched deallocate_sched do_scheduling_signed do_scheduling_unsigned
    get_num_threads get_parallel_chunksize get_sched_size get_thread_id launch_threads openmp_vendor parallel_for ready
    set_num_threads set_parallel_chunksize synchronize
np.ufunc.parallel: NUM_THREADS ParallelGUFuncBuilder ParallelUFuncBuilder _check_tbb_version_compatible
    _iget_num_threads _iget_thread_id _launch_threads _load_threading_functions _nop _set_init_process_lock
    build_gufunc_kernel build_gufunc_wrapper build_ufunc_wrapper gen_snt_check get_num_threads get_parallel_chunksize
    get_thread_count get_thread_id ol_get_num_threads ol_get_parallel_chunksize ol_get_thread_id ol_set_num_threads
    ol_set_parallel_chunksize ol_snt_check set_num_threads set_parallel_chunksize snt_check threading_layer
np.ufunc.sigparse: parse_signature
np.ufunc.ufunc_base: UfuncBase UfuncLowererBase
np.ufunc.ufuncbuilder: GUFuncBuilder UFuncBuilder UFuncDispatcher UFuncTarget UFuncTargetOptions _BaseUFuncBuilder
    _build_element_wise_ufunc_wrapper _compile_element_wise_function _finalize_ufunc_signature _get_transform_arg
    _suppress_deprecation_warning_nopython_not_supplied parse_identity ufunc_target
np.ufunc.workqueue: add_task allocate_sched deallocate_sched do_scheduling_signed do_scheduling_unsigned
    get_num_threads get_parallel_chunksize get_sched_size get_thread_id launch_threads parallel_for ready
    set_num_threads set_parallel_chunksize synchronize
np.ufunc.wrappers: GUArrayArg UArrayArg _ArrayArgLoader _ArrayAsScalarArgLoader _GufuncObjectWrapper _GufuncWrapper
    _ScalarArgLoader _build_ufunc_loop_body _build_ufunc_loop_body_objmode _prepare_call_to_object_mode _wrapper_info
    build_fast_loop_body build_gufunc_wrapper build_obj_loop_body build_slow_loop_body build_ufunc_wrapper
np.ufunc_db: IS_WIN32 _fill_ufunc_db _lazy_init_db get_ufunc_info get_ufuncs numpy_version
np.unsafe/:
np.unsafe.ndarray: empty_inferred to_fixed_tuple
parfors/:
parfors.array_analysis: ArrayAnalysis BINARY_MAP_OP CONST_CLASS EquivSet INPLACE_BINARY_MAP_OP MAP_TYPES
    ShapeEquivSet SymbolicEquivSet UFUNC_MAP_OP UNARY_MAP_OP UNKNOWN_CLASS WrapIndexMeta array_analysis_extensions
    array_creation assert_equiv random_1arg_size random_2arg_sizelast random_3arg_sizelast random_calls random_int_args
    wrap_index wrap_index_literal
parfors.ir_utils: mk_alloc
parfors.parfor: ConvertInplaceBinop ConvertLoopPass ConvertNumpyPass ConvertReducePass ConvertSetItemPass
    FusionReport LoopNest MinValInfer Parfor ParforDiagnostics ParforFusionPass ParforPass ParforPassStates
    ParforPreLoweringPass PreParforPass ReduceInfer _RedVarInfo _add_liveness_return_block _analyze_parfor
    _arrayexpr_tree_to_ir _can_reorder_stmts _combine_params_races_for_ssa_names _find_first_parfor _find_func_var
    _find_mask _find_parfors _gen_arrayexpr_getitem _gen_np_divide _get_call_arg_types _get_saved_call_nodes
    _is_indirect_index _lower_parfor_sequential_block _make_index_var _mk_parfor_loops _parfor_use_alloca
    _remove_size_arg _update_parfor_get_setitems apply_copies_parfor arange_parallel_impl argmax_checker
    argmax_parallel_impl argmin_checker argmin_parallel_impl build_parfor_definitions
    check_conflicting_reduction_operators checker_impl dot_parallel_impl dotmv_parallel_impl dotvm_parallel_impl
    dotvv_parallel_impl dprint dummy_return_in_loop_body ensure_parallel_support expand_aliases fill_parallel_impl
    find_potential_aliases_parfor find_template fix_generator_types fuse_parfors_inner
    get_array_indexed_with_parfor_index get_array_indexed_with_parfor_index_internal get_copies_parfor get_expr_args
    get_index_var get_parfor_array_accesses get_parfor_call_table get_parfor_outputs get_parfor_params
    get_parfor_params_inner get_parfor_pattern_vars get_parfor_reductions get_parfor_tuple_table get_parfor_writes
    get_reduce_nodes get_reduction_init get_type_max_value get_type_min_value has_cross_iter_dep init_prange
    init_prange_overload internal_prange is_assert_equiv linspace_parallel_impl lower_get_type_max_value
    lower_get_type_min_value lower_parfor_sequential max_checker max_parallel_impl maximize_fusion maximize_fusion_inner
    mean_parallel_impl min_checker min_parallel_impl numpy_version parfor_add_offset_to_labels parfor_defs
    parfor_find_max_label parfor_insert_dels parfor_typeinfer print_wrapped prod_parallel_impl push_call_vars
    random_1arg_size random_2arg_sizelast random_3arg_sizelast random_calls random_int_args remove_dead_parfor
    remove_dead_parfor_recursive remove_duplicate_definitions replace_functions_checkers_map replace_functions_ndarray
    repr_arrayexpr sequential_parfor_lowering simplify_parfor_body_CFG std_parallel_impl sum_parallel_impl
    supported_reduction swap_functions_map try_fuse unwrap_parfor_blocks var_parallel_impl visit_parfor_pattern_vars
    visit_vars_parfor wrap_parfor_blocks
parfors.parfor_lowering: ParforLower ParforsUnexpectedReduceNodeError _ReductionInfo _create_gufunc_for_parfor_body
    _create_shape_signature _emit_binop_reduce_call _emit_getitem_call _fix_redvar_name_ssa_mismatch _hoist_internal
    _is_right_op_and_rhs_is_init _lower_non_trivial_reduce _lower_parfor_parallel _lower_parfor_parallel_std
    _lower_trivial_inplace_binops _lower_var_to_var_assign _parfor_lowering_finalize_reduction _print_block _print_body
    add_to_def_once_sets call_parallel_gufunc compute_def_once compute_def_once_block compute_def_once_internal
    empty_container_allocator_hoist find_setitems_block find_setitems_body find_vars hoist legalize_names_with_typemap
    redarraytype_to_sig redtyp_is_scalar redtyp_to_redarraytype replace_var_with_array replace_var_with_array_in_block
    replace_var_with_array_internal to_scalar_from_0d unwrap_loop_body wrap_find_topo wrap_loop_body
parfors.parfor_lowering_utils: ParforLoweringBuilder _CallableNode
stencils/:
stencils.stencil: StencilFunc StencilFuncLowerer _stencil raise_if_incompatible_array_sizes slice_addition stencil
    stencil_dummy_lower
stencils.stencilparfor: DummyPipeline OPERATORS_TO_BUILTINS StencilPass _compute_last_ind _get_const_binary_expr
    _get_const_index_expr _get_const_index_expr_inner _get_const_two_irs _get_const_unary_expr get_stencil_ir
typed/:
typed.dictimpl:
typed.dictobject: DKIX DictIterModel DictModel Status _as_meminfo _call_dict_free _dict_delitem _dict_dump
    _dict_insert _dict_items _dict_keys _dict_length _dict_lookup _dict_new_sized _dict_popitem _dict_set_method_table
    _dict_values _from_meminfo _imp_dtor _iterator_codegen _make_dict _mixed_values_to_tuple _raise_if_error
    _str_items_mixed_values_to_tuple build_map cast_DictType_DictType cast_LiteralStrKeyDict_LiteralStrKeyDict
    impl_clear impl_contains impl_copy impl_delitem impl_dict_getiter impl_equal impl_get impl_getitem impl_hash
    impl_items impl_iterable_getiter impl_keys impl_len impl_len_iters impl_new_dict impl_not_equal impl_pop
    impl_popitem impl_setdefault impl_setitem impl_values literalstrkeydict_banned_impl_delitem
    literalstrkeydict_banned_impl_mutators literalstrkeydict_banned_impl_setitem literalstrkeydict_impl_contains
    literalstrkeydict_impl_copy literalstrkeydict_impl_equals literalstrkeydict_impl_get literalstrkeydict_impl_items
    literalstrkeydict_impl_keys literalstrkeydict_impl_len literalstrkeydict_impl_values new_dict ol_dict_update
typed.listobject: DEFAULT_ALLOCATED ErrorHandler ListIterInstance ListIterModel ListModel ListStatus _add_meminfo
    _as_meminfo _call_list_free _check_for_none_typed _equals_helper _from_meminfo _gen_getitem _imp_dtor
    _list_allocated _list_append _list_codegen_set_method_table _list_delete_slice _list_delitem _list_getitem
    _list_getitem_borrowed _list_is_mutable _list_length _list_new _list_new_codegen _list_set_is_mutable
    _list_set_method_table _list_setitem _make_list compare_helper compare_not_none compare_some_none fix_index
    getiter_list handle_index handle_slice impl_allocated impl_append impl_clear impl_contains impl_copy impl_count
    impl_delitem impl_dtype impl_equals impl_extend impl_getitem impl_greater_than impl_greater_than_or_equal impl_index
    impl_insert impl_is_mutable impl_len impl_less_than impl_less_than_or_equal impl_make_immutable impl_make_mutable
    impl_new_list impl_not_equals impl_pop impl_remove impl_reverse impl_setitem index_types list_is new_list
    ol_getitem_unchecked ol_list_hash ol_list_sort
typed.setobject: SetIterModel SetModel Status _as_meminfo _call_set_free _from_meminfo _imp_dtor _iterator_codegen
    _make_set _raise_if_error _set_add _set_contains _set_discard _set_length _set_new_sized _set_set_method_table
    impl_contains impl_copy impl_discard impl_equal impl_iterable_getiter impl_len impl_len_iters impl_new_set
    impl_not_equal impl_set_add impl_set_getiter new_set
typed.typeddict: Dict _contains _copy _delitem _from_meminfo_ptr _get _getitem _iter _length _make_dict _popitem
    _setdefault _setitem box_dicttype impl_numba_typeref_ctor typeddict_call typeddict_empty unbox_dicttype
typed.typedlist: DEFAULT_ALLOCATED List T T_co _Sequence _allocated _append _clear _contains _copy _count _delitem
    _eq _extend _from_meminfo_ptr _ge _getitem _gt _guess_dtype _index _insert _is_mutable _le _length _lt
    _make_immutable _make_list _make_mutable _ne _pop _remove _reverse _setitem _sort box_lsttype
    impl_numba_typeref_ctor typedlist_call typedlist_empty unbox_listtype
typed.typedobjectutils: _as_bytes _cast _container_get_data _container_get_meminfo _get_equal _get_incref_decref
    _nonoptional _sentry_safe_cast _sentry_safe_cast_default
typed.typedset: Set _additem _copy _discarditem _from_meminfo_ptr _iter _length _make_set _set_contains box_settype
    impl_numba_typeref_ctor typedset_call typedset_empty unbox_settype
"""
