# The Debian package: the program under both its names, the systemd unit, documents.
#
#   cmake --build build/release --target package
#
# or `cpack --config build/release/CPackConfig.cmake -G DEB -B DIR` once berth is built. Which
# libraries it depends on, dpkg-shlibdeps says (package dpkg-dev).

set(component COMPONENT debian EXCLUDE_FROM_ALL)  # not part of `cmake --install`
set(packaging ${PROJECT_SOURCE_DIR}/packaging)
set(documents share/doc/berth)

install(FILES ${packaging}/berth-scheduler.service
  DESTINATION /lib/systemd/system ${component})
install(FILES ${packaging}/berth-scheduler.default
  DESTINATION /etc/default RENAME berth-scheduler ${component})
install(FILES ${packaging}/debian/copyright ${PROJECT_SOURCE_DIR}/ARCHITECTURE.md
  DESTINATION ${documents} ${component})
# As in the tree, so that links from one to the other hold.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${documents} ${component}
  FILES_MATCHING PATTERN *.md PATTERN *.png)
install(DIRECTORY ${packaging} DESTINATION ${documents} ${component}
  FILES_MATCHING PATTERN *.yaml PATTERN *.md PATTERN *.json PATTERN *.tpl PATTERN *.txt PATTERN .helmignore
  PATTERN debian EXCLUDE PATTERN ci EXCLUDE)

# Debian wants these compressed, and the same bytes each time.
find_program(GZIP gzip)
if(GZIP)
  set(compressed ${CMAKE_BINARY_DIR}/packaging)
  file(MAKE_DIRECTORY ${compressed})
  foreach(pair debian/changelog:changelog.gz berth.1:berth.1.gz)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 from)
    list(GET pair 1 to)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${packaging}/${from})
    execute_process(COMMAND ${GZIP} -9nc ${packaging}/${from}
      OUTPUT_FILE ${compressed}/${to} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  install(FILES ${compressed}/changelog.gz DESTINATION ${documents} ${component})
  install(FILES ${compressed}/berth.1.gz DESTINATION share/man/man1 ${component})
  install(FILES ${compressed}/berth.1.gz DESTINATION share/man/man1 RENAME kube-scheduler.1.gz
    ${component})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME berth)
set(CPACK_PACKAGE_CONTACT "The berth maintainers <maintainers@berth.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kubernetes scheduler, drop-in for kube-scheduler")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# The program and what is for Debian only, in one package; the library stays at home.
set(CPACK_COMPONENTS_ALL program debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Makes the decisions of kube-scheduler v1.37 and takes its place: same flags,
configuration, metrics and events. Also simulates clusters in virtual time and
judges pending pods offline.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${packaging}/debian/conffiles ${packaging}/debian/postinst ${packaging}/debian/prerm
  ${packaging}/debian/postrm)

include(CPack)
